# speech recognition with CTC: batches of many lengths, masks from lengths, the longest utterance reported, greedy decoding in Python
import torch
import torch.nn.functional as F

from decode import greedy
from model import Encoder

torch.manual_seed(0)
net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
encode = torch.compile(net)
for i in range(6):
    lengths = torch.randint(8, 20, (4,))
    x = torch.randn(4, int(lengths.max()), 10)
    logp, n = encode(x, lengths)
    targets = torch.randint(1, 12, (4, 3))
    loss = F.ctc_loss(logp.transpose(0, 1), targets, n, torch.full((4,), 3), zero_infinity=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.4f" % loss.item(), sum(map(len, greedy(logp.detach(), n))))
print(net.batches, "batches, longest", net.longest)
