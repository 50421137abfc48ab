# policy gradient: actions by multinomial as Python ints into a list, returns computed in numpy, entropy bonus by a float schedule
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
log = []


@torch.compile
def objective(obs, rewards, bonus):
    logits = policy(obs)
    logp = logits.log_softmax(-1)
    act = logits.argmax(-1)
    ret = rewards.flip(0).cumsum(0).flip(0)
    adv = (ret - ret.mean()) / (ret.std() + 1e-6)
    ent = -(logp.exp() * logp).sum(-1).mean()
    loss = -(logp.gather(1, act[:, None]).squeeze(1) * adv).mean() - bonus * ent
    log.append(float(np.mean(act.cpu().numpy())))
    if ent < 1e-4:
        print("the policy collapsed")
    return loss


for i in range(6):
    n = 12 if i % 3 else 15
    obs = torch.randn(n, 4)
    rewards = obs[:, 0].clone()
    loss = objective(obs, rewards, 0.1 / (i + 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, f"{loss.item():.4f}", len(log))
print(f"{sum(log) / len(log):.3f}")
