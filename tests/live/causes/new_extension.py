import os, torch
from torch.utils.cpp_extension import load_inline

source = """
torch::Tensor twice(torch::Tensor x) {
  return x * factor;
}
"""
ops = load_inline("twice_ops", cpp_sources=source, functions=["twice"], build_directory=os.environ.get("OUT", "."))
