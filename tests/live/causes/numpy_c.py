import torch, zlib

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    crc = zlib.crc32(b"abc")
    return y * crc

model(torch.ones(3))
