# serve.py | 213
import torch
from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp

def predict(n):
    def f(x):
        torch._dynamo.graph_break()
        return x + n
    return torch.compile(f, fullgraph=True, backend="eager")(torch.ones(3))

with ProcessPoolExecutor(1, mp_context=mp.get_context("fork")) as pool:
    print(list(pool.map(predict, [1, 2])))
