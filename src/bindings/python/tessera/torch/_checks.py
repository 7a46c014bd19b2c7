"""Checks of arguments. The exceptions are of the types that PyTorch's own operators raise; each text has both values.

Shapes are compared by torch._check, which also records what a compiled graph may assume.
"""

import torch

from .._errors import InvalidArgument
from ._products import TYPES

ACTIVATIONS = (None, "relu", "gelu")


def shape(x):
    return "x".join(str(size) for size in x.shape)


def tensors(operator, **arguments):
    """Raises TypeError for what is no tensor. Objects that override functions, such as torch.fx.Proxy, pass."""
    for name, x in arguments.items():
        if x is None and name == "bias":
            continue
        if not isinstance(x, torch.Tensor) and not hasattr(type(x), "__torch_function__"):
            raise TypeError(f"{operator}(): argument '{name}' must be Tensor, not {type(x).__name__}")


def alike(operator, out_dtype, **arguments):
    """Checks element types and devices. The first argument is the one that the others are compared with."""
    (first, a), *others = ((name, x) for name, x in arguments.items() if x is not None)
    if a.dtype not in TYPES:
        raise NotImplementedError(
            f'"tessera::{operator}" not implemented for {a.dtype} (argument {first}); products are of '
            f"{', '.join(str(x) for x in TYPES)}"
        )
    for name, x in others:
        result = out_dtype or a.dtype
        wanted = result if name in ("input", "bias") else a.dtype
        if x.dtype != wanted:
            what = f"{first} is {a.dtype}" if wanted == a.dtype else f"the result is {result}"
            raise RuntimeError(f"{operator}: expected {name} to be {wanted}, since {what}, but got {x.dtype}")
        if x.device != a.device:
            raise RuntimeError(
                f"{operator}: Expected all tensors to be on the same device, but {first} is on {a.device} and {name} "
                f"is on {x.device}"
            )
    if out_dtype is not None and out_dtype != a.dtype:
        halves = (torch.float16, torch.bfloat16)
        if not (a.dtype in halves and out_dtype == torch.float32 or a.dtype == torch.float32 and out_dtype in halves):
            raise RuntimeError(
                f"{operator}: out_dtype = {out_dtype}, but {first} is {a.dtype}; a result has the operands' type, or "
                "float32 if that has 16 bits, or 16 bits if that is float32"
            )


def factors(operator, a, **numbers):
    """Checks alpha and beta."""
    for name, value in numbers.items():
        if isinstance(value, complex) and not a.dtype.is_complex:
            raise RuntimeError(f"{operator}: {name} = {value} is complex, but the tensors are {a.dtype}")


def dimensions(operator, wanted, **arguments):
    for name, x in arguments.items():
        kind = {1: "a vector", 2: "a matrix", 3: "a 3D tensor"}[wanted]
        torch._check(
            x.dim() == wanted, lambda: f"{operator}: {name} must be {kind}, but it has {x.dim()} dimensions ({shape(x)})"
        )


def multiplied(operator, a, b):
    """Checks that matrices, or stacks of as many of them, can be multiplied. Returns the result's shape."""
    if a.dim() == 3:
        torch._check(
            a.shape[0] == b.shape[0],
            lambda: f"{operator}: expected as many matrices in b as in a, but got {b.shape[0]} and {a.shape[0]} "
            f"({shape(a)} and {shape(b)})",
        )
    torch._check(
        a.shape[-1] == b.shape[-2],
        lambda: f"{operator}: a and b shapes cannot be multiplied ({shape(a)} and {shape(b)})",
    )
    return (*a.shape[:-1], b.shape[-1])


def broadcast(operator, x, to):
    """Checks that the argument `input` can be expanded to the result's shape."""
    sizes = "x".join(str(size) for size in to)
    torch._check(x.dim() <= len(to), lambda: f"{operator}: input ({shape(x)}) has more dimensions than the result ({sizes})")
    for own, wanted in zip(reversed(x.shape), reversed(to)):
        torch._check(
            own == 1 or own == wanted,
            lambda: f"{operator}: The expanded size of the result ({sizes}) must match the size of input ({shape(x)}), but "
            f"{own} != {wanted}",
        )


def activation(word):
    if word not in ACTIVATIONS:
        raise InvalidArgument(f"unknown activation '{word}'; 'relu', 'gelu' and None are known")


def ends(offsets, rows):
    """Returns the groups' ends as numbers, which waits for the device that computes them."""
    if offsets.is_cuda and torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "grouped_mm: a CUDA graph is being captured, but the host has to read offsets for groups of k and in modes "
            "without kernels that read them on the GPU (others than strict, tf32, bf16 and fp16); copy them to the host "
            "before, or leave this product out of the graph"
        )
    found = offsets.tolist()
    before = 0
    for g, end in enumerate(found):
        if not before <= end <= rows:
            raise RuntimeError(
                f"grouped_mm: offsets[{g}] = {end} must be at least the end before it, {before}, and at most {rows}"
            )
        before = end
    return found
