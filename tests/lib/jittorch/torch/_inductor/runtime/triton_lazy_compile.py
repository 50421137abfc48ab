"""As in torch 2.13 and newer: a library that Inductor made with cpp_wrapper calls these two functions, which it looks up in this module."""
import math
import os


class CachingAutotuner:
    def __init__(self, name, source):
        self.filename = os.path.abspath(name + ".py")
        with open(self.filename, "w") as f:
            f.write(source)

    def run(self, x, y, n, stream):
        x.memory.launch()
        for i in range(n):
            y.memory[i] = math.log(x.memory[i]) if x.memory[i] > 0 else math.nan


class AsyncCompile:
    def triton(self, name, source, device_str):
        return CachingAutotuner(name, source)


def start_kernel_compile(pending_kernels, kernel_name, kernel_source):
    pending_kernels[kernel_name] = eval(kernel_source.strip(), {"async_compile": AsyncCompile()})


def run_triton_kernel_with_autotune(pending_kernels, kernel_name, stream, args):
    pending_kernels[kernel_name].run(*args, stream=stream)
    return "launch data"
