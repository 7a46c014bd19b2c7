"""Is honest for all types that PyTorch has: sums of 16-bit operands in float32, of int8 in int32."""

import torch


def solve(a, b, c):
    if a.dtype == torch.int8:
        c.copy_(a.to(torch.int32) @ b.to(torch.int32))
    elif a.dtype in (torch.float16, torch.bfloat16):
        c.copy_(a.float() @ b.float())
    else:
        torch.mm(a, b, out=c)
