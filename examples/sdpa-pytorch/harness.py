"""Scaled dot product attention in PyTorch: torch's own function, and the same written out."""

import math
import os
import pathlib
import sys

# An installed pawl_harness comes first, then the one of this repository; PAWL_SDK names another folder.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "sdk" / "python"))
if "PAWL_SDK" in os.environ:
    sys.path.insert(0, os.environ["PAWL_SDK"])

import pawl_harness as pawl  # before torch: it takes pawl's pipes out of the environment

try:
    import torch
    import torch.nn.functional as F
except ImportError as exc:
    sys.exit(f"sdpa: {sys.executable} cannot import torch ({exc}); put a python3 that can in front in PATH")

DEVICE, DTYPE, SIZE = ("cuda", torch.float16, 2) if torch.cuda.is_available() else ("cpu", torch.float32, 4)
torch.set_num_threads(1)  # the cpu clock is that of one thread


def make_inputs(B, H, S, D):
    """q, k and v, uniform in [-0.5, 0.5): zeros would draw less power and run faster."""
    return [torch.rand(B, H, S, D, device=DEVICE).sub(0.5).to(DTYPE) for _ in range(3)]


def register(q, k, v):
    """So that pawl can check the result, not only time it: the output is what the run returns."""
    for name, value in zip("qkv", (q, k, v)):
        pawl.input(name, value)
    pawl.output("out")


def fused(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    return F._scaled_dot_product_attention(q, k, v)[0]  # torch 1.13


def written_out(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1) @ v


@pawl.benchmark(
    "sdpa",
    configs=[dict(B=1, H=2, S=64, D=64), dict(B=1, H=2, S=128, D=64)],
    flops="4*B*H*S*S*D",
    bytes=f"4*{SIZE}*B*H*S*D",
)
def sdpa(B, H, S, D):
    q, k, v = make_inputs(B, H, S, D)
    register(q, k, v)
    return lambda: fused(q, k, v)


@pawl.benchmark("sdpa", implementation="math")
def sdpa_math(B, H, S, D):
    q, k, v = make_inputs(B, H, S, D)
    register(q, k, v)
    return lambda: written_out(q, k, v)


if __name__ == "__main__":
    pawl.main()
