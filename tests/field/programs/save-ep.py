# save.py | 215
import zipfile
import torch

class M(torch.nn.Module):
    def forward(self, x):
        return x + 1

torch.export.save(torch.export.export(M(), (torch.ones(2),)), "/tmp/field-ep0.pt2")
with zipfile.ZipFile("/tmp/field-ep0.pt2") as a, zipfile.ZipFile("/tmp/field-ep.pt2", "w") as b:
    for n in a.namelist():
        data = a.read(n)
        if n.endswith(".json"):  # as the next schema will be
            data = data.replace(b'"major": 8', b'"major": 9').replace(b'"major":8', b'"major":9')
        b.writestr(n, data)
