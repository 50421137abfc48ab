import torch

FIX = r"allow_rnn = True"
EDIT = "allow_rnn = True"
torch.manual_seed(0)
RNN = torch.nn.GRU(4, 4)

def before(x):
    return RNN(x * 2)[0]

after = before

def setup():
    torch._dynamo.config.allow_rnn = True

def calls():
    yield torch.ones(3, 2, 4),
