import torch, transformers

cfg = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=99)
model = transformers.GPT2LMHeadModel(cfg).eval()
model.forward = torch.compile(model.forward, backend="aot_eager")

@torch.no_grad()
def run():
    ids = torch.randint(0, 99, (1, 4))
    past = None
    for i in range(4):
        out = model(ids, past_key_values=past, use_cache=True)
        past = out.past_key_values
        ids = out.logits[:, -1:].argmax(-1)

run()
