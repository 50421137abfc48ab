import torch, transformers

cfg = transformers.GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=64, n_positions=32)
model = torch.compile(transformers.GPT2LMHeadModel(cfg), backend="aot_eager")
ids = torch.randint(0, 64, (2, 8))
labels = ids.clone()
labels[0, 3] = 64
loss = model(ids, labels=labels).loss
loss.backward()
