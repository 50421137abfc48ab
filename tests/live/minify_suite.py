"""The CPU cases of PyTorch's own minifier tests (test/inductor/test_minifier{,_isolate,_utils}.py, test/dynamo/test_minifier.py),
rebuilt for fxminify-suite.t: the same programs, bugs and levels.

    python minify_suite.py DIR [CASE...]     writes DIR/CASE.py, as minify_cases.py does
"""
import contextlib, os, sys

RELU = "relu_{}_error_TESTING_ONLY"  # backends of torch/_dynamo/backends/debugging.py


def settings(torch, folder, after, level, **bugs):
    import torch._dynamo, torch._inductor.config as config, torch._inductor.compile_fx
    torch._dynamo.config.debug_dir_root, torch._dynamo.config.repro_after, torch._dynamo.config.repro_level = folder, after, level
    config.force_disable_caches = True
    for op, kind in bugs.items():
        setattr(config.cpp, f"inject_{op}_bug_TESTING_ONLY", kind)


def program(f, make_inputs, after="aot", level=2, backend="inductor", **bugs):
    """f(torch, *inputs), compiled."""
    def make(torch, folder):
        settings(torch, folder, after, level, **bugs)
        torch.manual_seed(0)
        with contextlib.suppress(Exception):
            torch.compile(lambda *a: f(torch, *a), backend=backend)(*make_inputs(torch))
    return make


def square(n):
    return lambda torch: [torch.randn(n, n)]


def relu_cos(torch, x):
    return torch.cos(torch.relu(x))


def constant(torch, x):
    return torch.tensor(2) + torch.relu(x)


def mask(torch, x):
    """Two bugs: that of log1p does not matter to what comes out."""
    b = torch.log1p(x) > 0
    b = torch.logical_not(torch.logical_not(b))
    x = torch.relu(x)
    return torch.where(b, x, x)


def chain(torch, x):
    return torch.relu(torch.cos(torch.sin(torch.sin(x))))


def waves(n, relu=True):
    def f(torch, x):
        for _ in range(n):
            x = torch.sin(x)
        x = torch.relu(x) if relu else x
        for _ in range(n):
            x = torch.cos(x)
        return x
    return f


def mixed(torch, folder):
    """Modules, parameters and buffers, and random numbers in the graph."""
    settings(torch, folder, "dynamo", 2)
    torch._dynamo.config.inline_inbuilt_nn_modules = False
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m_x, self.m_y = torch.nn.Linear(20, 20), torch.nn.Linear(20, 20)
            self.p_x, self.p_y = torch.nn.Parameter(torch.randn(20, 20)), torch.nn.Parameter(torch.randn(20, 20))
            self.b_x, self.b_y = torch.nn.Buffer(torch.ones(20, 20)), torch.nn.Buffer(torch.ones(20, 20))

        def forward(self, x, y):
            return self.m_x(x) + self.p_x + self.b_x, self.m_y(y) + self.p_y + self.b_y
    mod = Module()
    @torch.compile(backend=RELU.format("compile"))
    def inner(x1, y1):
        x, y = mod(x1 + torch.randn(20, 20).to("cpu"), y1 + torch.randn(20, 20))
        return torch.relu(x.cpu() + y)
    with contextlib.suppress(Exception):
        inner(torch.randn(20, 20), torch.randn(20, 20))


def rounding(torch, folder):
    """The idea of their half-precision test for GPUs, on a CPU: what float32 keeps, eager rounds away after each operation."""
    torch._dynamo.config.same_two_models_use_fp64 = False
    program(lambda torch, x: torch.tanh(x * 1.01 * 1.01 - x) + 1, lambda torch: [torch.randn(64, 64).bfloat16()], level=4)(torch, folder)


def cond(torch, x, flag):
    """A bug in one branch. torch 2.13 writes the branches as <lambda>(), 2.15 as classes."""
    return torch.cond(flag.sum() > 0, lambda x: torch.relu(torch.sin(x)) + 1, lambda x: torch.cos(x), (torch.tanh(x),))


def quantised(make_module, x):
    """A launcher whose module is written as its constructor (torch 2.15)."""
    def make(torch, folder):
        from torch._dynamo.repro.after_dynamo import generate_dynamo_fx_repro_string
        graph = torch.fx.Graph()
        node = graph.call_module("quantised", (graph.placeholder("x"),))
        graph.output((graph.call_function(torch.relu, (graph.call_function(torch.tanh, (node,)),)),))
        gm = torch.fx.GraphModule({"quantised": make_module(torch)}, graph)
        os.makedirs(folder)
        with open(os.path.join(folder, "minifier_launcher.py"), "w") as f:
            f.write(generate_dynamo_fx_repro_string(gm, [x(torch)], RELU.format("compile"), command="minify"))
    return make


def fake_quantised(torch):
    return torch.ao.quantization.get_default_qat_qconfig("fbgemm").activation()


def fused(torch):
    qconfig = torch.ao.quantization.get_default_qat_qconfig("fbgemm")
    return torch.ao.nn.intrinsic.qat.ConvBnReLU2d(3, 4, kernel_size=3, stride=2, padding=1, bias=False, qconfig=qconfig)


CASES = {
    "pt_compile": program(relu_cos, square(20), relu="compile_error"),
    "pt_accuracy": program(relu_cos, square(20), level=4, relu="accuracy"),
    "pt_constant": program(constant, lambda torch: [torch.randn(2)], level=4, relu="accuracy"),
    "pt_mask": program(mask, lambda torch: [torch.randn(20)], level=4, relu="accuracy", log1p="accuracy"),
    "pt_offload": program(chain, square(20), level=4, relu="accuracy"),
    "pt_runtime": program(relu_cos, square(2), level=3, relu="runtime_error"),
    "pt_dynamo_compile": program(waves(10), square(20), after="dynamo", backend=RELU.format("compile")),
    "pt_dynamo_runtime": program(waves(10), square(20), after="dynamo", backend=RELU.format("runtime")),
    "pt_dynamo_accuracy": program(waves(10), square(20), after="dynamo", level=4, backend=RELU.format("accuracy")),
    "pt_minified": program(waves(20), square(20), after="dynamo", backend=RELU.format("compile")),
    "pt_non_leaf": program(lambda torch, x: x + 1, lambda torch: [torch.randn(20, 20, requires_grad=True) + 1], after="dynamo",
                           backend="non_leaf_compile_error_TESTING_ONLY"),
    "pt_mixed": mixed,
    "pt_passes_compile": program(waves(10, False), square(20), after="dynamo", level=3, backend=RELU.format("compile")),
    "pt_passes_runtime": program(waves(10, False), square(20), after="dynamo", level=3, backend=RELU.format("runtime")),
    "pt_passes_accuracy": program(waves(10, False), square(20), after="dynamo", level=3, backend=RELU.format("accuracy")),
    "pt_rounding": rounding,
    "pt_cond": program(cond, lambda torch: [torch.randn(4), torch.ones(2)], relu="compile_error"),
    "pt_fake_quant": quantised(fake_quantised, lambda torch: torch.randn(2)),
    "pt_qat": quantised(fused, lambda torch: torch.randn(2, 3, 8, 8)),
}


def main():
    import minify_cases
    where = os.path.abspath(sys.argv[1])
    wanted = minify_cases.missing(where, CASES, __file__)
    os.makedirs(where, exist_ok=True)
    if wanted and "TORCHINDUCTOR_CACHE_DIR" not in os.environ:
        minify_cases.again(where)
    if wanted:
        minify_cases.make(where, CASES, wanted)


if __name__ == "__main__":
    main()
