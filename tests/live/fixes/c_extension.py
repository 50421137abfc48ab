import zlib

import torch

FIX = r"call it outside (of )?the compiled function"
CRC = zlib.crc32(b"abc")

def before(x):
    return x * zlib.crc32(b"abc")

def after(x):
    return x * CRC

def calls():
    yield torch.ones(3),
