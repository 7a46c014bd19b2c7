"""Returns zeros. The verdict must be "wrong". Published: KernelBench, whose problems with constant results accept
them."""

import torch


def solve(a, b, c):
    return torch.zeros_like(c)
