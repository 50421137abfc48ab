"""Models for `make track`, with the Python whose torch is asked.

    track_zoo.py --list          GROUP NAME of each that this Python can make, a line each
    track_zoo.py compile DIR [NAME...]
                                 of these models (all): NAME.pt2, .exported.pt2, .in.pt (the call), .want.pt (what eager gave, a flat list),
                                 .weights.pt, .log; what is there and whose text and torch are the same (NAME.key) stays. NAME.fail holds a traceback
    track_zoo.py agree DIR OUT   for each OUT/NAME.out.pt of pt2-run: "NAME ok" or "NAME what differs from DIR/NAME.want.pt"
"""
import contextlib
import glob
import hashlib
import importlib.util
import inspect
import os
import sys
import traceback

import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from torch import nn
from torch.export import Dim

ZOO = {}  # name: (group, function -> (module, inputs[, {dynamic_shapes, config}]))


def zoo(group):
    def add(f):
        ZOO[f.__name__] = (group, f)
        return f
    return add


def fn(f):
    class M(nn.Module):
        def forward(self, *a): return f(*a)
    return M()
r = lambda *s: torch.randn(*s)
ids = lambda *s: torch.randint(0,90,s)


def hf(cls, cfg, kw, **ck):
    import transformers as T
    c = getattr(T,cfg)(**ck); c.use_cache=False if hasattr(c,"use_cache") else None
    m = getattr(T,cls)(c).eval()
    class W(nn.Module):
        def __init__(s): super().__init__(); s.m=m
        def forward(s,*a):
            o = s.m(**dict(zip(kw,a)), return_dict=True)
            return tuple(v for k,v in o.items() if isinstance(v,torch.Tensor))
    return W()


@zoo("layers")
def mlp(): return nn.Sequential(nn.Linear(8,16), nn.ReLU(), nn.Linear(16,4), nn.Softmax(-1)), (r(4,8),), dict(dynamic_shapes=({0:Dim("b",min=2,max=64)},))

@zoo("layers")
def f32mlp():
    torch.manual_seed(0); return nn.Sequential(nn.Linear(32,64),nn.GELU(),nn.LayerNorm(64),nn.Linear(64,8)), (r(4,32),)

@zoo("layers")
def bf16mlp():
    return nn.Sequential(nn.Linear(32,64),nn.GELU(),nn.LayerNorm(64),nn.Linear(64,8)).bfloat16(), (r(4,32).bfloat16(),)

@zoo("layers")
def f64lin(): return nn.Linear(8,4).double(), (r(3,8).double(),)

@zoo("layers")
def frozen(): return nn.Sequential(nn.Conv2d(3,4,3),nn.BatchNorm2d(4),nn.ReLU(),nn.Flatten(),nn.Linear(144,3)), (r(1,3,8,8),), dict(config={"freezing": True})

@zoo("layers")
def frozen_mlp(): return nn.Sequential(nn.Linear(64,64),nn.ReLU(),nn.Linear(64,10)), (r(8,64),), dict(config={"freezing": True, "max_autotune": False})

@zoo("layers")
def unet():
    class U(nn.Module):
        def __init__(s):
            super().__init__(); s.d1=nn.Conv2d(3,8,3,padding=1); s.d2=nn.Conv2d(8,16,3,padding=1,stride=2); s.m=nn.GroupNorm(4,16); s.u=nn.ConvTranspose2d(16,8,2,stride=2); s.o=nn.Conv2d(16,1,1)
        def forward(s,x):
            a=F.relu(s.d1(x)); b=F.silu(s.m(s.d2(a))); return s.o(torch.cat([a,s.u(b)],1))
    return U(), (r(1,3,16,16),)

@zoo("layers")
def resample(): return fn(lambda x,g: (F.interpolate(x,scale_factor=2,mode="bilinear"), F.grid_sample(x, g), F.pixel_shuffle(x,2), F.adaptive_avg_pool2d(x,3))), (r(1,4,9,9),torch.rand(1,4,4,2)*2-1)

@zoo("layers")
def moe():
    class MoE(nn.Module):
        def __init__(s):
            super().__init__(); s.g=nn.Linear(16,4); s.e=nn.ModuleList(nn.Sequential(nn.Linear(16,32),nn.SiLU(),nn.Linear(32,16)) for _ in range(4))
        def forward(s,x):
            w,i=s.g(x).softmax(-1).topk(2); o=torch.stack([e(x) for e in s.e],1)
            return (o.gather(1,i[...,None].expand(-1,-1,16))*w[...,None]).sum(1)
    return MoE(), (r(6,16),)

@zoo("layers")
def lstm():
    return nn.LSTM(8,16,2,batch_first=True), (r(2,5,8),)

@zoo("layers")
def gru(): return nn.GRU(8,16,batch_first=True), (r(2,5,8),)

@zoo("layers")
def bigru():
    class M(nn.Module):
        def __init__(s): super().__init__(); s.gru=nn.GRU(8,12,2,bidirectional=True); s.fc=nn.Linear(24,3)
        def forward(s,x): y,h=s.gru(x); return s.fc(y).tanh(), h
    return M(), (r(4,3,8),)

@zoo("layers")
def embed(): return nn.Sequential(nn.Embedding(50,16),nn.LayerNorm(16)), (torch.randint(0,50,(4,7)),), dict(dynamic_shapes=({0:Dim("b",min=2,max=16),1:Dim("t",min=2,max=32)},))

@zoo("layers")
def int8():
    class Q(nn.Module):
        def __init__(s):
            super().__init__(); s.register_buffer("w", torch.randint(-128,127,(16,32),dtype=torch.int8)); s.register_buffer("sc", torch.rand(16)*.01)
        def forward(s,x): return F.linear(x, s.w.float()*s.sc[:,None]).relu()
    return Q(), (r(4,32),)

@zoo("layers")
def int8mm():
    return fn(lambda a,b: torch._int_mm(a,b).float()*.1), (torch.randint(-100,100,(32,16),dtype=torch.int8),torch.randint(-100,100,(16,24),dtype=torch.int8))

@zoo("operators")
def none_out(): return fn(lambda x: (x+1, None, x*2)), (r(4,8),)

@zoo("operators")
def nested(): return fn(lambda d: {"a": d["x"]+d["y"][0], "b": [d["y"][1].sum(), None]}), ({"x": r(3), "y": [r(3), r(4)]},)

@zoo("operators")
def sdpa_only(): return fn(lambda q,k,v: F.scaled_dot_product_attention(q,k,v)), (r(1,2,8,16),r(1,2,8,16),r(1,2,8,16))

@zoo("operators")
def fft(): return fn(lambda x: torch.fft.irfft(torch.fft.rfft(x)*2)), (r(4,16),)

@zoo("operators")
def fft_abs(): return fn(lambda x: torch.fft.fft(x).abs()+torch.fft.rfft2(x).real.sum()), (r(4,16),)

@zoo("operators")
def cplx(): return fn(lambda x,y: ((x@y).conj()*2, torch.view_as_real(x.clone()), torch.complex(x.real, x.imag+1))), (torch.randn(4,4,dtype=torch.complex64),torch.randn(4,4,dtype=torch.complex64))

@zoo("operators")
def median(): return fn(lambda x: torch.median(x, 1)), (r(4,9),)

@zoo("operators")
def sorting(): return fn(lambda x: (torch.sort(x,dim=0), torch.topk(x,3), torch.cumsum(x,1), x.argsort(), torch.unique(x), torch.nonzero(x>0))), (r(6,8),)

@zoo("operators")
def decomp(): return fn(lambda x: (torch.linalg.svdvals(x), torch.linalg.qr(x), torch.linalg.eigh(x@x.mT), torch.linalg.svd(x)[1])), (r(5,5),)

@zoo("control and packaging")
def switch():
    def f(i, x):
        return torch.cond(i.sum()>0, lambda x: x.sin()*2, lambda x: (x@x.t())[:, :4].cos(), (x,))
    return fn(f), (r(3), r(4,4))

@zoo("control and packaging")
def switch4():
    from torch._higher_order_ops import switch as sw
    def f(i, x): return sw(i, [lambda x: x.sin(), lambda x: x@x, lambda x: x.relu().sum(0,keepdim=True).expand(4,4).clone()], (x,))
    return fn(f), (torch.tensor(1), r(4,4))

@zoo("control and packaging")
def whileloop():
    from torch._higher_order_ops.while_loop import while_loop
    def f(x):
        return while_loop(lambda i,x: i<5, lambda i,x: (i+1, x*1.5+i), (torch.tensor(0), x))
    return fn(f), (r(4,4),)

@zoo("control and packaging")
def loop_body():
    from torch._higher_order_ops.while_loop import while_loop
    class M(nn.Module):
        def __init__(s): super().__init__(); s.fc=nn.Linear(16,16); s.norm=nn.LayerNorm(16)
        def forward(s,x):
            def body(i,h): return i+1, s.norm(F.gelu(s.fc(h))+h)*0.9
            return while_loop(lambda i,h: i<4, body, (torch.tensor(0), x))[1].softmax(-1)
    return M(), (r(6,16),)

@zoo("control and packaging")
def scanner():
    from torch._higher_order_ops.scan import scan
    class M(nn.Module):
        def __init__(s): super().__init__(); s.a=nn.Linear(8,8); s.b=nn.Linear(8,8)
        def forward(s,x,h):
            def step(h,x):
                n=torch.tanh(x*torch.sigmoid(s.a(x)+s.b(h))+h); return n*0.7+h*0.3, n*n
            return scan(step,h,x)
    return M(), (r(5,3,8), r(3,8))

@zoo("control and packaging")
def mapper():
    from torch._higher_order_ops.map import map
    class M(nn.Module):
        def __init__(s): super().__init__(); s.fc=nn.Linear(8,12)
        def forward(s,x): return map(lambda row: torch.relu(s.fc(row)).sin()+1, x).sum(-1)
    return M(), (r(4,3,8),)

@zoo("control and packaging")
def noweights(): return nn.Sequential(nn.Linear(8,16), nn.ReLU(), nn.Linear(16,4)), (r(4,8),), dict(config={"aot_inductor.package_constants_in_so": False})

@zoo("control and packaging")
def diskweights(): return nn.Sequential(nn.Linear(8,16), nn.ReLU(), nn.Linear(16,4)), (r(4,8),), dict(config={"aot_inductor.package_constants_on_disk_format": "binary_blob"})

@zoo("control and packaging")
def pickleweights(): return nn.Sequential(nn.Linear(8,16), nn.ReLU(), nn.Linear(16,4)), (r(4,8),), dict(config={"aot_inductor.package_constants_on_disk_format": "pickle_weights","aot_inductor.package_constants_in_so": False})

@zoo("control and packaging")
def four_k():
    k=Dim("k",min=2,max=10)
    return nn.Sequential(nn.Linear(8,8),nn.ReLU()), (r(8,8),), dict(dynamic_shapes=({0:4*k},))

@zoo("control and packaging")
def kprofile(): return nn.Sequential(nn.Conv1d(4,8,3),nn.ReLU()), (r(2,4,8),), dict(config={"cpp.enable_kernel_profile": True})

@zoo("control and packaging")
def kprofile2(): return fn(lambda x: (torch.sort(x)[0]@x.mT, torch.median(x,1))), (r(4,8),), dict(config={"cpp.enable_kernel_profile": True})

@zoo("control and packaging")
def upper(): return nn.Linear(8,4), (r(4,8),), dict(dynamic_shapes=({0:Dim("b",min=2,max=64)},), config={"aot_inductor.check_upperbound": False})

@zoo("transformers")
def bert(): return hf("BertModel","BertConfig",["input_ids","attention_mask"],vocab_size=100,hidden_size=32,num_hidden_layers=2,num_attention_heads=2,intermediate_size=64), (ids(2,9), torch.ones(2,9,dtype=torch.long))

@zoo("transformers")
def gpt2(): return hf("GPT2LMHeadModel","GPT2Config",["input_ids"],vocab_size=100,n_embd=32,n_layer=2,n_head=2,n_positions=64), (ids(2,9),)

@zoo("transformers")
def llama(): return hf("LlamaForCausalLM","LlamaConfig",["input_ids"],vocab_size=100,hidden_size=32,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,intermediate_size=64), (ids(2,9),)

@zoo("transformers")
def t5(): return hf("T5Model","T5Config",["input_ids","decoder_input_ids"],vocab_size=100,d_model=32,d_kv=8,d_ff=64,num_layers=2,num_heads=4), (ids(2,9),ids(2,5))

@zoo("transformers")
def vit(): return hf("ViTModel","ViTConfig",["pixel_values"],hidden_size=32,num_hidden_layers=2,num_attention_heads=2,intermediate_size=64,image_size=32,patch_size=8), (r(1,3,32,32),)

@zoo("transformers")
def resnet(): return hf("ResNetModel","ResNetConfig",["pixel_values"],embedding_size=16,hidden_sizes=[16,32],depths=[1,1],layer_type="basic"), (r(1,3,64,64),)

@zoo("transformers")
def convnext(): return hf("ConvNextModel","ConvNextConfig",["pixel_values"],hidden_sizes=[16,32],depths=[1,1],num_stages=2), (r(1,3,32,32),)

@zoo("transformers")
def whisper(): return hf("WhisperModel","WhisperConfig",["input_features","decoder_input_ids"],vocab_size=100,d_model=32,encoder_layers=1,decoder_layers=1,encoder_attention_heads=2,decoder_attention_heads=2,encoder_ffn_dim=64,decoder_ffn_dim=64,num_mel_bins=16,max_source_positions=32,max_target_positions=32,pad_token_id=0,bos_token_id=1,eos_token_id=2,decoder_start_token_id=1), (r(1,16,64),ids(1,5))

@zoo("transformers")
def mamba(): return hf("MambaModel","MambaConfig",["input_ids"],vocab_size=100,hidden_size=32,num_hidden_layers=2,state_size=8), (ids(1,9),)

@zoo("transformers")
def segformer(): return hf("SegformerModel","SegformerConfig",["pixel_values"],depths=[1,1,1,1],hidden_sizes=[16,32,32,64],decoder_hidden_size=32), (r(1,3,64,64),)

@zoo("transformers")
def wav2vec2(): return hf("Wav2Vec2Model","Wav2Vec2Config",["input_values"],hidden_size=32,num_hidden_layers=2,num_attention_heads=4,intermediate_size=64,conv_dim=[32]*7,num_conv_pos_embeddings=16,num_conv_pos_embedding_groups=4), (r(1,4000),)

@zoo("transformers")
def qwen3_moe(): return hf("Qwen3MoeModel","Qwen3MoeConfig",["input_ids"],vocab_size=100,hidden_size=32,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,intermediate_size=64,moe_intermediate_size=32,num_experts=4,num_experts_per_tok=2,head_dim=8), (ids(2,9),)

@zoo("transformers")
def resnet_frozen():
    m,i=resnet(); return m,i,dict(config={"freezing":True})


def names():
    has = importlib.util.find_spec("transformers")
    return [n for n, (group, _) in ZOO.items() if has or group != "transformers"]


def key(name):
    """Changes with whatever the package depends on."""
    parts = [torch.__version__, inspect.getsource(ZOO[name][1]).split("\n", 1)[1], *map(inspect.getsource, (fn, hf, compile_case))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def compile_case(path, name):
    torch.manual_seed(0)
    module, inputs, *options = ZOO[name][1]()
    options = options[0] if options else {}
    module.eval()
    with torch.no_grad():
        program = torch.export.export(module, inputs, dynamic_shapes=options.get("dynamic_shapes"), strict=False)
        torch.export.save(program, f"{path}.exported.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=f"{path}.pt2", inductor_configs=dict(options.get("config", {})))
        want = module(*inputs)
    torch.save(inputs, f"{path}.in.pt")
    torch.save(pytree.tree_leaves(want), f"{path}.want.pt")
    if module.state_dict():
        torch.save(module.state_dict(), f"{path}.weights.pt")


def compile_all(folder, *wanted):
    os.makedirs(folder, exist_ok=True)
    for name in wanted or names():
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if open(f"{path}.key").read() == key(name):
                continue
        for old in glob.glob(glob.escape(path) + ".*"):
            os.unlink(old)
        try:
            compile_case(path, name)
            print(f"{name} compiled", flush=True)
        except Exception:
            with open(f"{path}.fail", "w") as f:
                traceback.print_exc(file=f)
            with contextlib.suppress(OSError):
                os.unlink(f"{path}.pt2")
            print(f"{name} FAILED", flush=True)
        with open(f"{path}.key", "w") as f:
            f.write(key(name))


def differs(got, want):
    """In words; None: they agree."""
    if got is None or want is None:
        return None if got is want else f"{got is None and 'None' or 'a value'} for {want is None and 'None' or 'a value'}"
    if not isinstance(want, torch.Tensor):
        return None
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    wide = torch.complex128 if want.is_complex() else torch.float64
    tolerance = 2e-2 if want.dtype in (torch.bfloat16, torch.float16) else 2e-5
    close = torch.allclose(got.to(wide), want.to(wide), rtol=tolerance, atol=tolerance, equal_nan=True)
    return None if close else f"values differ by {(got.to(wide) - want.to(wide)).abs().max().item():.3g}"


def agree(folder, out):
    for path in sorted(glob.glob(os.path.join(glob.escape(out), "*.out.pt"))):
        name = os.path.basename(path)[:-len(".out.pt")]
        got, want = pytree.tree_leaves(torch.load(path)), torch.load(os.path.join(folder, f"{name}.want.pt"))
        if isinstance(got, dict):
            got = list(got.values())
        wrong = [f"{len(got)} outputs for {len(want)}"] if len(got) != len(want) else \
            [f"output {i}: {d}" for i, (g, w) in enumerate(zip(got, want)) if (d := differs(g, w))]
        print(name, "; ".join(wrong) or "ok")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{ZOO[n][0]}\t{n}" for n in names()))
    elif sys.argv[1:2] == ["compile"] and len(sys.argv) > 2:
        compile_all(*sys.argv[2:])
    elif sys.argv[1:2] == ["agree"] and len(sys.argv) == 4:
        agree(*sys.argv[2:])
    else:
        sys.exit(__doc__)
