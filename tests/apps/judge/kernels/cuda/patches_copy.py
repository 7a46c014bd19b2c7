"""Does nothing in its call, and multiplies when the result is copied to the host, which is not timed. The verdict must be
"returns early": the judge does not read C through PyTorch."""

import torch

copy_to_host = torch.Tensor.cpu
left = []


def multiply_first(tensor, *arguments, **options):
    while left:
        a, b, c = left.pop()
        torch.matmul(a, b, out=c)
    return copy_to_host(tensor, *arguments, **options)


torch.Tensor.cpu = multiply_first


def solve(a, b, c):
    left.append((a, b, c))
