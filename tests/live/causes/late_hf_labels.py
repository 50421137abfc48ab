import torch, transformers

cfg = transformers.LlamaConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=99)
lm = transformers.LlamaForCausalLM(cfg)
step = torch.compile(lm, backend="aot_eager")

def train(ids, labels):
    loss = step(input_ids=ids, labels=labels).loss
    loss.backward()

train(torch.randint(0, 99, (2, 6)), torch.randint(0, 99, (2, 5)))
