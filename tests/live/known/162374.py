"""pytorch#162374: pad_packed_sequence under torch.compile."""
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

gru = torch.nn.GRU(4, 8, batch_first=True)


def main():
    def f(x, n):
        out, _ = gru(pack_padded_sequence(x, n, batch_first=True))
        return pad_packed_sequence(out, batch_first=True)[0]

    x, n = torch.randn(3, 5, 4), torch.tensor([5, 3, 2])
    torch.testing.assert_close(torch.compile(f)(x, n), f(x, n))
