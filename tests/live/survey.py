"""Which operators do real models export? Configs of timm, transformers, torchvision, diffusers and torch_geometric, one layer each.

    survey.py list                                    # the configs, in the order in which they are taken
    survey.py export OUT.jsonl [--from=N] [--seconds=S]   # each exported on the meta device: its operators, a line each
    survey.py missing OUT.jsonl                       # which of them pt2-run refuses, worst first
    survey.py run BUILD[,BEFORE] OUT.jsonl [--most=300] [--seconds=S]   # small ones on the CPU: pt2-run against eager
    survey.py score OUT.jsonl                         # how many are right, and which are not

Everything is forked from one process that has imported the libraries; a config gets 40 seconds of processor time. The order is fixed: configs are grouped by
family (timm's module, a transformers model type, ...), sorted by name, and the groups are taken in turn, the five libraries in turn, too: any
prefix is a fair sample. "run" takes the configs in that order and skips those that eager itself cannot run on these inputs.
"""
import collections
import contextlib
import gc
import importlib
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch

EACH = 40  # seconds of processor time; ten times as much by the clock


# ---- what there is: (library, family, name) ----

def of_timm():
    import timm
    for name in timm.list_models():
        yield timm.models._registry._model_to_module[name], name


def of_torchvision():
    import torchvision
    for name in torchvision.models.list_models():
        yield torchvision.models.get_model_builder(name).__module__.rpartition(".")[2], name


def of_transformers():
    from transformers.models.auto import modeling_auto as auto
    for which in ("MODEL", "MODEL_FOR_CAUSAL_LM", "MODEL_FOR_MASKED_LM", "MODEL_FOR_IMAGE_CLASSIFICATION", "MODEL_FOR_SEQUENCE_CLASSIFICATION",
                  "MODEL_FOR_OBJECT_DETECTION"):
        for family, names in getattr(auto, which + "_MAPPING_NAMES").items():
            for name in names if isinstance(names, (tuple, list)) else (names,):
                yield family, name


def of_diffusers():
    import diffusers
    for name in sorted(dir(diffusers.models)):
        if name[0].isupper() and (name.endswith(("Model", "2D", "KL", "3D")) or "UNet" in name or "Autoencoder" in name):
            yield name, name


def of_torch_geometric():
    import torch_geometric.nn as nn
    for name in sorted(nn.conv.__all__):
        yield name, name
    for name in ("GCN", "GraphSAGE", "GIN", "GAT", "PNA", "EdgeCNN"):
        yield name, name


LIBRARIES = {"timm": of_timm, "transformers": of_transformers, "torchvision": of_torchvision, "diffusers": of_diffusers,
             "torch_geometric": of_torch_geometric}


def in_turn(groups):
    """The first of each group, then the second of each ..."""
    groups = [list(g) for g in groups]
    for i in range(max(map(len, groups), default=0)):
        for g in groups:
            if i < len(g):
                yield g[i]


def configs():
    libraries = []
    for library, of in LIBRARIES.items():
        families = collections.defaultdict(list)
        try:
            for family, name in of():
                if (library, name) not in families[family]:
                    families[family].append((library, name))
        except ImportError as e:
            print(f"# {library}: {e}", file=sys.stderr)
        libraries.append(list(in_turn([sorted(families[f]) for f in sorted(families)])))
    return list(in_turn(libraries))


# ---- a small model of a config, and inputs for it ----

SMALL = {"num_hidden_layers": 1, "num_layers": 1, "n_layer": 1, "n_layers": 1, "encoder_layers": 1, "decoder_layers": 1,
         "num_encoder_layers": 1, "num_decoder_layers": 1, "depth": 1, "vocab_size": 320, "use_cache": False, "num_blocks": 1,
         "max_position_embeddings": 64}
SMALLER = {"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "d_model": 64,
           "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "n_embd": 64,
           "n_head": 4, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "image_size": 32, "patch_size": 8, "dim": 64,
           "n_heads": 4, "d_ff": 96, "d_kv": 16, "num_heads": 4}


def shrink(config, values):
    for k, v in values.items():
        if isinstance(getattr(config, k, None), (int, bool)) and not isinstance(getattr(type(config), k, None), property):
            with contextlib.suppress(Exception):
                setattr(config, k, v)
    for v in list(vars(config).values()):
        if hasattr(v, "to_dict"):
            shrink(v, values)
    vocabulary = getattr(config, "vocab_size", None)
    for k in ("pad_token_id", "bos_token_id", "eos_token_id"):
        if isinstance(vocabulary, int) and isinstance(getattr(config, k, None), int) and getattr(config, k) >= vocabulary:
            setattr(config, k, 1)
    types = getattr(config, "layer_types", None)
    if types:
        config.layer_types = types[:1]


def transformers_inputs(model, config):
    text = getattr(config, "text_config", config)
    ids = lambda: torch.randint(3, max(4, min(300, (getattr(text, "vocab_size", None) or 300) - 1)), (1, 8))
    image = getattr(getattr(config, "vision_config", None) or config, "image_size", 32) or 32
    image = image if isinstance(image, int) else image[0]
    channels = getattr(getattr(config, "vision_config", None) or config, "num_channels", 3) or 3
    names = inspect.signature(model.forward).parameters
    kwargs = {}
    if "pixel_values" in names:
        kwargs["pixel_values"] = torch.randn(1, channels, image, image)
    if "input_ids" in names:
        kwargs["input_ids"] = ids()
        if "attention_mask" in names:
            kwargs["attention_mask"] = torch.ones(1, 8, dtype=torch.long)
    if "input_values" in names:
        kwargs["input_values"] = torch.randn(1, 4000)
    if "input_features" in names:
        kwargs["input_features"] = torch.randn(1, getattr(config, "num_mel_bins", None) or 80, 2 * (getattr(config, "max_source_positions", None) or 50))
    if "decoder_input_ids" in names and getattr(config, "is_encoder_decoder", False):
        kwargs["decoder_input_ids"] = ids()
    return (), kwargs


def of_transformers_config(name, small):
    import transformers
    cls = getattr(transformers, name)
    config = cls.config_class()
    shrink(config, {**SMALL, **SMALLER} if small else SMALL)
    for k, v in {"use_cache": False, "return_dict": True}.items():
        setattr(config, k, v)
    return cls(config), config


def guess(name, config, form):
    """An input of a diffusers model by the name of its parameter; form: of its main input, "image", "video", "tokens" or "audio"."""
    def c(key, default):
        return getattr(config, key, None) or default

    def first(v):
        return v[0] if isinstance(v, (list, tuple)) else v

    if name in ("sample", "x", "hidden_states", "z"):
        channels = first(c("in_channels", 4 if name == "hidden_states" else 3))
        size = first(c("sample_size", 16))
        size = min(size if isinstance(size, int) else 16, 32 if name == "sample" else 16)
        return {"image": torch.randn(1, channels, size, size), "video": torch.randn(1, channels, 1 if name == "hidden_states" else 5, size, size),
                "tokens": torch.randn(1, 16, channels), "audio": torch.randn(1, first(c("audio_channels", channels)), 512)}[form]
    if "timestep" in name or name in ("t", "sigma"):
        return torch.tensor([3])
    if name in ("encoder_hidden_states", "cap_feats"):
        for key in ("cross_attention_dim", "joint_attention_dim", "text_embed_dim", "caption_channels", "caption_projection_dim", "text_dim", "cap_feat_dim"):
            if width := first(c(key, None)):
                return torch.randn(1, 8, width)
        return torch.randn(1, 8, 64)
    if name in ("pooled_projections", "prompt_embeds_pooled"):
        return torch.randn(1, c("pooled_projection_dim", 64))
    if name in ("class_labels",):
        return torch.tensor([1])
    if name in ("encoder_attention_mask", "encoder_hidden_states_mask"):
        return torch.ones(1, 8, dtype=torch.bool)
    if name in ("img_ids", "txt_ids"):
        return torch.zeros(16 if name == "img_ids" else 8, len(c("axes_dims_rope", (0, 0, 0))))
    if name in ("guidance", "fps"):
        return torch.tensor([3.0])
    if name in ("original_size", "target_size", "crop_coords"):
        return torch.tensor([[16.0, 16.0]])
    if name == "img_shapes":
        return [(1, 4, 4)]
    raise TypeError(f"no input for {name}")


def of_diffusers_class(name):
    """The form of its inputs is the first one that runs on the meta device."""
    import diffusers
    cls = getattr(diffusers.models, name)
    takes = inspect.signature(cls.__init__).parameters
    few = {k: 1 for k in ("num_layers", "num_single_layers", "num_refiner_layers", "layers_per_block") if k in takes}
    last = TypeError("no inputs")
    for smaller in ({k: 2 for k in ("num_attention_heads", "num_key_value_heads") if isinstance(getattr(takes.get(k), "default", None), int)}, {}):
        for form in ("image", "video", "tokens", "audio"):
            try:
                def whole():
                    m = cls(**few, **smaller).eval()
                    kwargs = {n: guess(n, m.config, form) for n, p in inspect.signature(m.forward).parameters.items()
                              if (p.default is p.empty or n in ("img_ids", "txt_ids", "guidance")) and p.kind is not p.VAR_KEYWORD}
                    return m, kwargs
                with torch.device("meta"), torch.no_grad():
                    m, kwargs = whole()
                    m(**kwargs)
                check_size(m)
                m, kwargs = whole()
                return m, (), kwargs
            except TooLarge:
                raise
            except Exception as e:  # noqa: BLE001 - another form, then
                last = e
    raise last


class TooLarge(Exception):
    pass


def check_size(m):
    """On the meta device a model costs nothing; a large one is never made."""
    if sum(p.numel() for p in m.parameters()) > 6e7 and not torch.empty(0).is_meta:
        raise TooLarge("more than 60 million parameters")


def make(library, name, small):
    """(model, args, kwargs)"""
    if library == "timm":
        import timm
        last = None
        for kw in ({"depth": 1}, {"depths": (1, 1, 1, 1)}, {"layers": (1, 1, 1, 1)}, {}):
            try:
                m = timm.create_model(name, **kw)
                break
            except Exception as e:  # noqa: BLE001 - that architecture has no such argument
                last = e
        else:
            raise last
        return m, (torch.randn(1, *m.default_cfg["input_size"]),), {}
    if library == "torchvision":
        import torchvision
        m = torchvision.models.get_model(name, weights=None, **({"weights_backbone": None} if "rcnn" in name or "ssd" in name or "retina" in name
                                                                or "fcos" in name or "deeplab" in name or "fcn" in name or "lraspp" in name else {}))
        if "rcnn" in name or "ssd" in name or "retina" in name or "fcos" in name:
            return m, ([torch.rand(3, 96, 96)],), {}
        if "raft" in name:
            return m, (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128)), {}
        size = 299 if "inception" in name else 224
        if "mvit" in name:
            return m, (torch.randn(1, 3, 16, 224, 224),), {}
        if "3d" in name or "r2plus1d" in name or "mc3" in name or "s3d" in name:
            return m, (torch.randn(1, 3, 16, 112, 112),), {}
        return m, (torch.randn(1, 3, size, size),), {}
    if library == "transformers":
        m, config = of_transformers_config(name, small)
        return (m, *transformers_inputs(m, config))
    if library == "diffusers":
        return of_diffusers_class(name)
    import torch_geometric.nn as nn
    x, edges = torch.randn(6, 16), torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2], [1, 2, 3, 4, 5, 0, 3, 5]])
    cls = getattr(nn, name)
    for args in ((16, 8), (16, 8, 1), (16,), (16, 16, 2), ()):
        try:
            return cls(*args), (x, edges), {}
        except (TypeError, ValueError, AssertionError):
            pass
    return cls(torch.nn.Linear(16, 8)), (x, edges), {}


def one_layer(m):
    """Of layers that follow each other and look alike the first one stays: what the others call is the same."""
    for layers in list(m.modules()):
        if isinstance(layers, torch.nn.Sequential) and len(layers) > 1:
            texts = [repr(child) for child in layers]
            for i in range(len(texts) - 1, 0, -1):
                if texts[i] == texts[i - 1]:
                    del layers[i]
    return m


def move(x, device):
    return torch.utils._pytree.tree_map(lambda t: t.to(device) if isinstance(t, torch.Tensor) else t, x)


# ---- one config, in a process of its own ----

def operators(program):
    found = set()
    for m in program.graph_module.modules():
        if isinstance(m, torch.fx.GraphModule):
            for n in m.graph.nodes:
                if n.op == "call_function":
                    found.add(str(n.target) if isinstance(n.target, torch._ops.OpOverload) else
                              f"higher_order.{n.target._name}" if isinstance(n.target, torch._ops.HigherOrderOperator) else
                              f"{n.target.__module__}.{n.target.__name__}")
    return sorted(found)


def export_one(library, name):
    torch.manual_seed(0)
    with torch.no_grad():
        try:
            with torch.device("meta"):
                m, args, kwargs = make(library, name, False)
        except Exception:  # noqa: BLE001 - a constructor that reads values
            m, args, kwargs = make(library, name, True)
        m = one_layer(m).eval().to("meta")
        args, kwargs = move(args, "meta"), move(kwargs, "meta")
        return {"ops": operators(torch.export.export(m, args, kwargs, strict=False))}


def flat(x):
    return [t for t in torch.utils._pytree.tree_flatten(x)[0] if isinstance(t, torch.Tensor)]


def differ(got, want, wide):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if not want.dtype.is_floating_point:
        n = (got != want).sum().item()
        return f"{n} of {want.numel()} differ" if n else None
    if not want.numel():
        return None
    got, want = got.double(), want.double()
    wide = want if wide is None else wide.double()
    if not torch.equal(got.isfinite(), want.isfinite()):
        return "other elements are not finite"
    room = 8 * (want - wide).nan_to_num().abs().max().item() + 1e-4 * want.nan_to_num(0, 0, 0).abs().max().item() + 1e-7
    off = (got - want).nan_to_num(0, 0, 0).abs().max().item()
    return f"differs by {off:.3g} of {want.nan_to_num(0, 0, 0).abs().max().item():.3g}" if off > room else None


def against(pt2_run, folder, want):
    """{"right": N} or {"wrong": why}"""
    out = f"{folder}/out.pt"
    r = subprocess.run([pt2_run, "-q", f"{folder}/m.pt2", f"{folder}/in.pt", "-o", out], capture_output=True, text=True)
    if r.returncode:
        return {"wrong": f"status {r.returncode}: {r.stderr.strip()[-300:]}"}
    got = [t for t in torch.load(out).values() if isinstance(t, torch.Tensor)]
    os.unlink(out)
    if len(got) != len(want):
        return {"wrong": f"{len(got)} outputs instead of {len(want)}"}
    for i, (g, w) in enumerate(zip(got, want)):
        if d := differ(g, w, None):
            return {"wrong": f"out{i}: {d}"}
    return {"right": len(got)}


def run_one(library, name, tools):
    """export of one small model, eager's outputs of the exported program, and those of pt2-run; of several builds, each"""
    torch.manual_seed(0)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        try:
            if library != "torch_geometric":
                large = None
                with contextlib.suppress(Exception), torch.device("meta"):
                    large = make(library, name, True)[0]
                if large is not None:
                    check_size(large)
            m, args, kwargs = make(library, name, True)
            check_size(m)
        except TooLarge as e:
            return {"skipped": str(e)}
        m = m.eval()
        for p in list(m.parameters()) + list(m.buffers()):  # a layer that begins as zeros would show nothing
            if p.dtype.is_floating_point and p.numel() and not p.count_nonzero():
                p.normal_(0, 0.02)
        program = torch.export.export(m, args, kwargs, strict=False)
        want = flat(program.module()(*args, **kwargs))
        ops = operators(program)
        torch.export.save(program, f"{folder}/m.pt2")
        torch.save(flat((args, kwargs)), f"{folder}/in.pt")
        row = {"ops": ops, **against(tools[0], folder, want)}
        return {**row, "before": against(tools[1], folder, want)} if len(tools) > 1 else row


def apart(work, *args):
    """The result of work(*args) in a forked process, or why there is none."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(r)
        spent = time.process_time()
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (EACH, EACH))
        signal.alarm(10 * EACH)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        try:
            out = work(*args)
        except BaseException as e:  # noqa: BLE001
            out = {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[0][:200] if str(e).strip() else ''}"}
        out["cpu"] = round(time.process_time() - spent, 2)
        os.write(w, json.dumps(out).encode()[:60000])
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        text = f.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"error": "time or memory"}


def warm():
    """Imports and tables that the first export of a process needs, once for all: 1 to 2 s of each config."""
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.linear = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 4)

        def forward(self, x):
            x = self.norm(self.conv(x)).relu().mean((2, 3))
            return torch.nn.functional.scaled_dot_product_attention(self.linear(x)[None], x[None], x[None]).softmax(-1)

    torch.set_num_threads(1)
    for device in ("cpu", "meta"):
        program = torch.export.export(Net().eval().to(device), (torch.randn(1, 3, 8, 8, device=device),), strict=False)
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(program, f"{folder}/m.pt2")
    gc.collect()
    gc.freeze()


def each(path, work, most, seconds, first, *more):
    there = set()
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            there = {(row["library"], row["name"]) for row in map(json.loads, f)}
    todo = [c for c in configs()[first:] if c not in there]
    warm()
    start, n = time.time(), 0
    with open(path, "a", encoding="utf-8") as out:
        for library, name in todo:
            if n >= most or time.time() - start > seconds:
                break
            at = time.time()
            row = apart(work, library, name, *more)
            n += "right" in row or "wrong" in row or "ops" in row
            out.write(json.dumps({"library": library, "name": name, "s": round(time.time() - at, 1), **row}) + "\n")
            out.flush()


# ---- what is missing ----

def missing(path):
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.machinery.SourceFileLoader("operators_table", os.path.join(here, "../../scripts/gen-operators")).load_module()
    known = spec.supported()
    count, first, rows, whole = collections.Counter(), {}, 0, 0
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if "ops" not in row:
            continue
        rows += 1
        lacks = [op for op in row["ops"] if not known(op)]
        whole += not lacks
        for op in lacks:
            count[op] += 1
            first.setdefault(op, f"{row['library']} {row['name']}")
    print(f"{whole} of {rows} exported configs have all their operators ({100 * whole / max(rows, 1):.1f} %)")
    for op, n in count.most_common():
        print(f"{n:5} {op}  ({first[op]})")


def score(path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    ran = [r for r in rows if "right" in r or "wrong" in r]
    for name, pick in (("now", lambda r: r), ("before", lambda r: r.get("before", {}))):
        some = [r for r in ran if pick(r)]
        right = sum("right" in pick(r) for r in some)
        if some:
            print(f"{name}: {right} of {len(some)} right ({100 * right / len(some):.1f} %); {len(rows) - len(ran)} not exported, too large or too slow")
    for r in ran:
        if "wrong" in r:
            print(f"    {r['library']} {r['name']}: {r['wrong']}")


def main():
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    option = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--"))
    seconds, first = float(option.get("seconds", 1e9)), int(option.get("from", 0))
    if words[0] == "list":
        for c in configs():
            print(*c)
    elif words[0] == "export":
        each(words[1], export_one, int(option.get("most", 2000)), seconds, first)
    elif words[0] == "score":
        score(words[1])
    elif words[0] == "missing":
        missing(words[1])
    elif words[0] == "run":
        each(words[2], run_one, int(option.get("most", 300)), seconds, first, [os.path.abspath(os.path.join(b, "bin/pt2-run")) for b in words[1].split(",")])


if __name__ == "__main__":
    main()
