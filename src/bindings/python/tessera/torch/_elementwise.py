"""Functions of each element whose bits do not depend on the element's place, on the processor.

PyTorch's kernels compute most elements by vectors, and the few at the end of a thread's share one by one with other
functions, which round otherwise. Where an element lies then decides about its bits. Here the elements lie in memory
without gaps whose length is such that every thread's share consists of whole vectors: all elements have the bits of
PyTorch's vectors.
"""

import math

import torch

GRAIN = 32768  #: elements from which PyTorch's threads share a loop (at::internal::GRAIN_SIZE)
EARLY_GRAIN = 16384  #: the same for GELU's kernels, which then divide by the number of threads
LANES = 128  #: a multiple of the elements that PyTorch's loops take at once: two vectors of 64 bytes each


def padded(count, early=False):
    """Returns a length from `count` on whose shares of the threads are multiples of LANES."""
    threads = torch.get_num_threads()
    if early:
        shares = threads if count > EARLY_GRAIN else 1
    else:
        shares = min(threads, math.ceil(count / GRAIN))
    unit = LANES * max(shares, 1)
    return -(-count // unit) * unit


def flat(x, shape, strides, length):
    """Returns the elements of x, broadcast to the shape, in the order of the strides, with ones up to the length."""
    if x.shape == shape and x.stride() == strides and x.numel() == length:
        return x.as_strided((length,), (1,))
    line = torch.empty(length, dtype=x.dtype, device=x.device)
    count = math.prod(shape)
    line[count:].fill_(1)
    line.as_strided(shape, strides).copy_(x)
    return line


def is_taken(x):
    return x.device.type == "cpu" and (x.is_floating_point() or x.is_complex())


def kernel_of(early):
    """Returns a function that calls an operator of elements. `call` is PyTorch's kernel of it."""

    def kernel(call, *arguments, **keywords):
        tensors = [x for x in arguments if isinstance(x, torch.Tensor) and x.dim() > 0]
        if not tensors or not all(is_taken(x) for x in tensors):
            return None
        shape = torch.broadcast_shapes(*(x.shape for x in tensors))
        count = math.prod(shape)
        if count == 0:
            return None
        first = next((x for x in tensors if x.shape == shape), None)
        if first is None:
            strides = torch.empty(shape, device="meta").stride()
        elif first.is_contiguous():
            strides = first.stride()
        else:  # PyTorch keeps the order of dimensions that the operand has
            strides = torch.empty_like(first, device="meta").stride()
        length = padded(count, early)
        result = call(*(flat(x, shape, strides, length) if any(x is t for t in tensors) else x for x in arguments), **keywords)
        if isinstance(result, tuple):
            return tuple(x.as_strided(shape, strides) if x.numel() == length else x for x in result)
        return result.as_strided(shape, strides)

    return kernel


def gated(call, x, dim=-1):
    """glu: one half times the sigmoid of the other."""
    if not is_taken(x) or x.dim() == 0 or x.shape[dim] % 2 != 0:
        return None
    left, right = x.chunk(2, dim)
    if x.dtype in (torch.float16, torch.bfloat16):
        return (left.float() * torch.sigmoid(right.float())).to(x.dtype)
    return left * torch.sigmoid(right)


def gated_backward(call, g, x, dim):
    if not is_taken(x) or x.dim() == 0 or x.shape[dim] % 2 != 0:
        return None
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    left, right = (half.to(wide) for half in x.chunk(2, dim))
    g, gate = g.to(wide), torch.sigmoid(right)
    return torch.cat([g * gate, g * left * (gate * (1 - gate))], dim).to(x.dtype)
