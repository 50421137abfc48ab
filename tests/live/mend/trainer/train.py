# a small GPT in three files: counters in a module, a check of the values in a helper, sequence length changes
import logging

import torch

from model import GPT
from util import counters

logging.basicConfig(level=logging.INFO, format="%(message)s")


def main():
    torch.manual_seed(0)
    model = GPT(30)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    step = torch.compile(model)
    for i, n in enumerate([8, 8, 10, 12, 9, 8]):
        ids = torch.randint(0, 30, (4, n + 1))
        loss = step(ids[:, :-1], ids[:, 1:])
        loss.backward()
        opt.step()
        opt.zero_grad()
        logging.info("step %d loss %.4f", i, loss.item())
    print(counters, model.blocks[0].attn.calls)


if __name__ == "__main__":
    main()
