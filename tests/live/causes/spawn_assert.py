import os, torch, torch.multiprocessing as mp

def model(x, limit):
    assert x.shape[0] < limit, "batch too large"
    return x * 2

def work(rank):
    torch.compile(model, backend="aot_eager", fullgraph=True)(torch.ones(8), 4)

if __name__ == "__main__":
    mp.spawn(work, (), 1)
