import torch

FIX = r"remove the print, or print outside"
EDIT = "remove the print"

def before(x):
    y = x + 1
    print("half way")
    return y * 2

def after(x):
    return (x + 1) * 2

def calls():
    yield torch.ones(3),
