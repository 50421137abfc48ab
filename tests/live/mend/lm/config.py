from dataclasses import dataclass, field


@dataclass
class Config:
    vocab: int = 48
    dim: int = 32
    heads: int = 2
    layers: int = 2
    lr: float = 3e-3
    seen: dict = field(default_factory=lambda: {"tokens": 0})
