"""two_devices.py CPU GPU [wrong]: dumps of aoti-printer -i -o, as torch.compile's graphs for a CPU and a GPU give them (torch 2.11): a convolution, tanh and a sum.
The CPU's convolution adds the bias; the GPU's does not, keeps 10 bits of what it multiplies, and the kernel behind it adds the bias. The CPU's first kernel
writes what two of the GPU's write. wrong: the GPU's last kernel forgets the bias."""
import json
import math
import os
import random
import struct
import sys

N, C, K, SIZE = 2, 3, 4, 8
random.seed(1)


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def tf32(x):
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x1000) & 0xffffe000))[0]


x = [single(random.gauss(0, 1)) for _ in range(N * C * SIZE * SIZE)]
w = [single(random.gauss(0, 0.3)) for _ in range(K * C * 9)]
b = [single(random.uniform(0.5, 1)) for _ in range(K)]


def conv(x, w, b):
    out = []
    for n in range(N):
        for k in range(K):
            for i in range(SIZE):
                for j in range(SIZE):
                    s = b[k]
                    for c in range(C):
                        for u in range(max(0, i - 1), min(SIZE, i + 2)):
                            for v in range(max(0, j - 1), min(SIZE, j + 2)):
                                s += x[((n * C + c) * SIZE + u) * SIZE + v] * w[((k * C + c) * 3 + u - i + 1) * 3 + v - j + 1]
                    out.append(single(s))
    return out


def reduced(y, b):
    """The sum of tanh over the channels."""
    area = SIZE * SIZE
    return [single(sum(math.tanh(y[(n * K + k) * area + at] + b[k]) for k in range(K))) for n in range(N) for at in range(area)]


class Dump:
    def __init__(self, folder, device):
        self.folder, self.device, self.seq, self.rows = folder, device, 0, []
        os.makedirs(folder)

    def value(self, name, arg, role, when, sizes, data):
        file = f"m0.{self.seq}.{when}.{arg}.{name}.npy"
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(sizes)}, }}"
        head = head.ljust(118 - len(head) % 64 + len(head) // 64 * 64)[:117] + "\n"
        with open(os.path.join(self.folder, file), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(data)}f", *data))
        strides = [math.prod(sizes[i + 1:]) for i in range(len(sizes))]
        return {"buffer": name, "arg": arg, "role": role, "when": when, "dtype": "float32", "device": self.device, "sizes": sizes, "strides": strides,
                "address": 4096, "elements": len(data), "nan": 0, "inf": 0, "neg_inf": 0, "zeros": 0, "min": min(data), "max": max(data), "mean": 0.0,
                "file": file}

    def call(self, kernel, kind, *values, nodes=None):
        row = {"model": "0_inference", "model_id": 0, "source": "model.py", "pid": 1, "tid": 1, "seq": self.seq, "run": 0, "kind": kind, "line": 1,
               "time_ns": self.seq, "took_ns": 1, "returned": True, "result": 0}
        if kernel:
            row.update(call=len(self.rows), kernel=kernel)
        if nodes:
            row["nodes"] = nodes
        row["values"] = [self.value(*v) for v in values]
        self.seq += 1
        self.rows.append(row)

    def close(self):
        with open(os.path.join(self.folder, "calls.jsonl"), "w", encoding="utf-8") as f:
            calls = sum(r["kind"] != "run" for r in self.rows)
            for row in [{"dump": 1, "writer": "aoti-printer 0.1.0"}] + self.rows + [{"ended": True, "calls": calls, "lost": 0}]:
                f.write(json.dumps(row) + "\n")


def main(cpu, gpu, wrong=""):
    X, W, Y, OUT, ZERO = [N, C, SIZE, SIZE], [K, C, 3, 3], [N, K, SIZE, SIZE], [N, SIZE, SIZE], [0.0] * K
    full, bare = conv(x, w, b), conv([tf32(v) for v in x], [tf32(v) for v in w], ZERO)
    right, ours = reduced(full, ZERO), reduced(bare, ZERO if wrong else b)
    d = Dump(cpu, "cpu")
    d.call("cpp_fused_convolution_0", "kernel", ("arg2_1", 0, "in", "before", X, x), ("buf0", 2, "out", "after", X, x), ("buf1", 3, "out", "after", W, w))
    d.call("extern_kernels.convolution", "op", ("buf0", 0, "in", "before", X, x), ("buf1", 1, "in", "before", W, w), ("buf2", 13, "out", "after", Y, full),
           nodes="conv2d")
    d.call("cpp_fused_sum_tanh_1", "kernel", ("buf2", 1, "in", "before", Y, full), ("buf3", 0, "out", "after", OUT, right))
    d.call(None, "run", ("arg2_1", 0, "model-input", "before", X, x), ("buf3", 0, "model-output", "after", OUT, right))
    d.close()
    d = Dump(gpu, "cuda:0")
    d.call("triton_poi_fused_convolution_0", "kernel", ("arg2_1", 0, "in", "before", X, x), ("buf0", 1, "out", "after", X, x), nodes="conv2d")
    d.call("triton_poi_fused_convolution_1", "kernel", ("buf1", 1, "out", "after", W, w), nodes="conv2d")
    d.call("extern_kernels.convolution", "op", ("buf0", 0, "in", "before", X, x), ("buf1", 1, "in", "before", W, w), ("buf2", 13, "out", "after", Y, bare),
           nodes="conv2d")
    d.call("triton_per_fused_convolution_sum_tanh_2", "kernel", ("buf2", 1, "in", "before", Y, bare), ("buf3", 0, "out", "after", OUT, ours),
           nodes="conv2d, tanh, sum")
    d.call(None, "run", ("arg2_1", 0, "model-input", "before", X, x), ("buf3", 0, "model-output", "after", OUT, ours))
    d.close()


main(*sys.argv[1:])
