"""Is honest: PyTorch multiplies, on the processor or on a GPU."""

import torch


def solve(a, b, c):
    torch.matmul(a, b, out=c)
