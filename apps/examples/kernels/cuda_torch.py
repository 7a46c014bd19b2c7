"""A kernel in Python for a GPU, for all types: PyTorch multiplies, which calls the vendor's library.

    gemm_compare --gpu --kernel cuda_torch.py --device cuda --sizes 1024,4096
    gemm_compare --gpu --kernel cuda_torch.py --device cuda --dtype bf16 --sizes 4096
    gemm_compare --kernel cuda_torch.py --device cuda --dtype i8 --sizes 1024

The bounds are the bounds of sums in float32. For tf32, switch allow_tf32 on and pass --kernel-math tf32.
"""

import torch
from torch.nn.functional import pad

torch.backends.cuda.matmul.allow_tf32 = False
# Otherwise partial sums of 16-bit operands may be added in 16 bits.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def int8_product(a, b):
    """int8·int8 → int32. The library takes more than 16 rows, and multiples of 8 elsewhere; zeros fill up the rest."""
    (m, k), n = a.shape, b.shape[1]
    try:
        wide = torch._int_mm(pad(a, (0, -k % 8, 0, max(0, 17 - m))), pad(b, (0, -n % 8, 0, -k % 8)))
        return wide[:m, :n]
    except RuntimeError:  # a GPU or a library without such products; in float64 they are exact too
        return (a.double() @ b.double()).to(torch.int32)


def solve(a, b, c):
    if a.dtype == torch.int8:
        c.copy_(int8_product(a, b))
    else:
        torch.mm(a, b, out=c)
