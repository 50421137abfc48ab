import torch
class Repro(torch.nn.Module):
    def forward(self, x):
        cos = torch.ops.aten.cos.default(x);  x = None
        sin = torch.ops.aten.sin.default(cos);  cos = None
        tan = torch.ops.aten.tan.default(sin);  sin = None
        exp = torch.ops.aten.exp.default(tan);  tan = None
        return (exp,)
def load_args(reader):
    buf0 = reader.storage(None, 48)
    reader.tensor(buf0, (3, 4), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir=None, tracing_mode='real', check_str=None)
