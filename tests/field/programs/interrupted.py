# train.py | 213
import os, signal, threading, time, torch

net = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)) for _ in range(150)])
fast = torch.compile(net)
threading.Thread(target=lambda: (time.sleep(12), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
fast(torch.randn(4, 8)).sum().backward()
