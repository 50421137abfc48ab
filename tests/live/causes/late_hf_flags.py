import torch, transformers

cfg = transformers.DistilBertConfig(dim=32, n_layers=1, n_heads=2, hidden_dim=64, vocab_size=99)
base = torch.compile(transformers.DistilBertModel(cfg).eval(), backend="aot_eager")
ids = torch.randint(0, 99, (1, 6))

def probe(**flags):
    with torch.no_grad():
        return base(ids, **flags)

probe()
probe(output_hidden_states=True)
probe(output_attentions=True)
