import torch, transformers

cfg = transformers.BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=99)
base = transformers.BertModel(cfg).eval()

def stats(module, args, output):
    print("mean", output.mean().item())

base.encoder.layer[0].intermediate.register_forward_hook(stats)
model = torch.compile(base, backend="aot_eager")
with torch.no_grad():
    for n in (5, 7, 9):
        model(torch.randint(0, 99, (1, n)))
