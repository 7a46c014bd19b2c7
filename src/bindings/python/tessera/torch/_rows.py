"""Sums and softmax of which each row's bits depend on nothing but the row.

Sums are products with ones, and have the bits of Tessera's products. PyTorch divides a sum among threads, and a GPU's
threads, by the number of results, so that one row is added up in another order than many.
"""

import math

import torch

from . import _products as products

HALVES = (torch.float16, torch.bfloat16)
REAL = tuple(dtype for dtype in products.TYPES if not dtype.is_complex)


def places(x, dim):
    """Returns the dimensions to reduce, or None if they are all, or no right ones, where PyTorch reports the error."""
    given = [dim] if isinstance(dim, int) else list(dim or ())
    if not all(-x.dim() <= d < x.dim() for d in given):
        return None
    found = {d % x.dim() for d in given}
    return None if not found or len(found) != len(given) else found


def as_matrix(x, reduced):
    """Returns x as a matrix whose rows are to be added up, without a copy if that is possible."""
    kept = [d for d in range(x.dim()) if d not in reduced]
    count = math.prod(x.shape[d] for d in reduced)
    rows = math.prod(x.shape[d] for d in kept)
    columns_first = x.permute(*sorted(reduced), *kept)
    if columns_first.is_contiguous():
        return columns_first.view(count, rows).t()
    return x.permute(*kept, *sorted(reduced)).reshape(rows, count)


def added(x, dim, keepdim, dtype):
    """Returns sums in the element type, or in float32 for one of 16 bits, and how many elements each has; or None."""
    if x.dtype not in REAL or x.device.type not in ("cpu", "cuda") or x.dim() == 0 or dtype not in (None, *REAL):
        return None
    reduced = places(x, dim)
    if reduced is None:
        return None
    if dtype not in (None, *HALVES) and not (dtype == torch.float32 and x.dtype in HALVES):
        x = x.to(dtype)
    matrix = as_matrix(x, reduced)
    ones = torch.ones(matrix.shape[1], 1, dtype=x.dtype, device=x.device)
    result = products.product(matrix, ones, "strict", dtype=torch.float32 if x.dtype in HALVES else None)
    shape = [1 if d in reduced else size for d, size in enumerate(x.shape) if keepdim or d not in reduced]
    return result.view(shape), matrix.shape[1]


def total(call, x, dim, keepdim=False, *, dtype=None):
    """sum.dim_IntList"""
    found = added(x, dim, keepdim, dtype)
    return None if found is None else found[0].to(dtype or x.dtype)


def average(call, x, dim, keepdim=False, *, dtype=None):
    """mean.dim"""
    found = added(x, dim, keepdim, dtype)
    if found is None:
        return None
    result, count = found
    return (result.div_(count) if count else result.fill_(float("nan"))).to(dtype or x.dtype)


def lies_in_rows(x, dim):
    """Is the dimension the last one, in memory too?"""
    return dim % x.dim() == x.dim() - 1 and x.is_contiguous()


def is_taken(x, dim):
    return x.device.type == "cpu" and x.dim() > 0 and x.numel() > 0 and -x.dim() <= dim < x.dim()


def soft(call, x, dim, half_to_float):
    """_softmax and _log_softmax. Along other dimensions than the last one threads share the columns."""
    if not is_taken(x, dim) or lies_in_rows(x, dim):
        return None
    return call(x.movedim(dim, -1).contiguous(), x.dim() - 1, half_to_float).movedim(-1, dim).contiguous()


def soft_backward(call, g, y, dim, dtype):
    if not is_taken(y, dim) or (lies_in_rows(g, dim) and lies_in_rows(y, dim)):
        return None
    rows = [t.movedim(dim, -1).contiguous() for t in (g, y)]
    return call(*rows, y.dim() - 1, dtype).movedim(-1, dim).contiguous()
