import torch, transformers

cfg = transformers.LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, vocab_size=64)
model = transformers.LlamaForCausalLM(cfg).eval()
step = torch.compile(model.forward, backend="aot_eager")
ids, past = torch.randint(0, 64, (1, 5)), None
with torch.no_grad():
    for i in range(4):
        out = step(ids, past_key_values=past, use_cache=True)
        ids, past = out.logits[:, -1:].argmax(-1), out.past_key_values
