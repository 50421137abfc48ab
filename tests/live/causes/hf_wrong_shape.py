import torch, transformers

cfg = transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=99)

class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = transformers.BertModel(cfg)
        self.head = torch.nn.Linear(31, 2)

    def forward(self, ids):
        h = self.base(ids).last_hidden_state
        return self.head(h[:, 0])

torch.compile(Classifier(), backend="aot_eager")(torch.randint(0, 99, (1, 4)))
