import torch, transformers

class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        cfg = transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=99)
        self.body = transformers.BertModel(cfg).to(torch.bfloat16)
        self.head = torch.nn.Linear(32, 3)

    def forward(self, ids):
        return self.head(self.body(ids).last_hidden_state)

tagger = torch.compile(Tagger().eval(), backend="aot_eager")
tagger(torch.randint(0, 99, (1, 6)))
