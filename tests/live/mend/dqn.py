# Q learning: epsilon-greedy in the compiled policy, a deque as memory, a target network updated every few steps, TD errors for priorities
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self, obs=5, act=3):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(obs, 24), nn.ReLU(), nn.Linear(24, act))
        self.target = nn.Sequential(nn.Linear(obs, 24), nn.ReLU(), nn.Linear(24, act))
        self.target.load_state_dict(self.q.state_dict())
        self.eps, self.acts, self.updates = 1.0, act, 0
        self.priorities = np.zeros(64)

    @torch.compile
    def act(self, obs):
        self.eps = max(0.1, self.eps * 0.9)
        if random.random() < self.eps:
            return random.randrange(self.acts)
        return self.q(obs).argmax().item()

    @torch.compile
    def loss(self, s, a, r, s2, idx):
        q = self.q(s).gather(1, a[:, None]).squeeze(1)
        with torch.no_grad():
            y = r + 0.95 * self.target(s2).max(1).values
        td = (q - y).abs()
        self.priorities[idx] = td.detach().numpy()
        self.updates += 1
        return F.smooth_l1_loss(q, y)


agent = Agent()
opt = torch.optim.Adam(agent.q.parameters(), lr=1e-2)
memory = deque(maxlen=64)
obs = torch.randn(5)
for t in range(14):
    a = agent.act(obs)
    nxt = torch.randn(5)
    memory.append((obs, a, float(obs.sum() > 0) * a, nxt))
    obs = nxt
    if len(memory) >= 8:
        idx = np.random.choice(len(memory), 8, replace=False)
        s, a, r, s2 = zip(*(memory[i] for i in idx))
        loss = agent.loss(torch.stack(s), torch.tensor(a), torch.tensor(r), torch.stack(s2), idx)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if agent.updates % 4 == 0:
            agent.target.load_state_dict(agent.q.state_dict())
            print("step", t, "loss %.4f" % loss.item(), "eps %.3f" % agent.eps, "priority %.3f" % agent.priorities.max())
