import zlib

import torch

FIX = r"@torch.library.custom_op"

@torch.library.custom_op("fixes::crc", mutates_args=())
def crc(x: torch.Tensor) -> torch.Tensor:
    return x * zlib.crc32(b"abc")

crc.register_fake(lambda x: torch.empty_like(x))

def before(x):
    return (x + 1) * zlib.crc32(b"abc")

def after(x):
    return crc(x + 1)

def calls():
    yield torch.ones(3),
