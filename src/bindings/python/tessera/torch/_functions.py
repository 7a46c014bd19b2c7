"""The functions of tessera.torch.

A call with plain tensors goes straight to the compiled module, which costs the host about as much as PyTorch's own
operator does, even where autograd records it. A call that PyTorch has to see (it is compiled or traced, is under
autocast, vmap or another mode, or has other than plain tensors) goes to the operator of the same name in
torch.ops.tessera.
"""

import torch
import torch.autograd.forward_ad as forward_ad
from torch.compiler import is_compiling

from .. import _core
from .._errors import InvalidArgument
from . import _checks as check
from . import _derivatives as derivatives
from . import _operators as operators
from . import _plain as plain
from . import _products as products

ops = torch.ops.tessera
tensor_product = _core._tensor_product
plain_mm, plain_bmm, plain_addmm, plain_baddbmm, plain_linear = plain.mm, plain.bmm, plain.addmm, plain.baddbmm, plain.linear


def mm(a, b, *, math=None, out_dtype=None, out=None):
    """Returns a·b of two matrices, as torch.mm.

    math: 'strict', 'bf16', 'fp16', 'tf32', 'scaled_fp16', 'emulated_fp16x3', 'emulated_bf16x6', 'compensated' or
        'strassen', as for tessera.gemm. None: 'strict', which has the same bits on every device; but float16 and bfloat16 tensors on a
        GPU are multiplied by its matrix units ('fp16', 'bf16'), since strict products take many times as long there.
    out_dtype: float32 for operands of 16 bits, or a 16-bit type for float32; None: the operands' type.
    out: a tensor for the result, which is returned. It is resized as PyTorch resizes it. It does not work with gradients.

    Raises RuntimeError (shapes, types, devices), NotImplementedError (integers, sparse tensors), TypeError (no tensor),
    tessera.InvalidArgument (an unknown mode) and tessera.KernelRejected (a mode that no kernel has for the type).
    """
    if out is None and not is_compiling():
        result = plain_mm(a, b, math, out_dtype)
        if result is not None:
            return result
    if out is not None and not is_compiling() and _plain_into(2, a, b, math, out_dtype, out):
        return out
    return _dispatch("mm", {"a": a, "b": b}, (a, b, math, out_dtype), out)


def bmm(a, b, *, math=None, out_dtype=None, out=None):
    """Returns the products of two stacks of matrices, as torch.bmm. Arguments are as for mm()."""
    if out is None and not is_compiling():
        result = plain_bmm(a, b, math, out_dtype)
        if result is not None:
            return result
    if out is not None and not is_compiling() and _plain_into(3, a, b, math, out_dtype, out):
        return out
    return _dispatch("bmm", {"a": a, "b": b}, (a, b, math, out_dtype), out)


def addmm(input, a, b, *, beta=1, alpha=1, math=None, out_dtype=None, out=None):
    """Returns beta·input + alpha·a·b, as torch.addmm. `input` is broadcast, and is not read if beta is 0."""
    if out is None and not is_compiling():
        result = plain_addmm(input, a, b, beta, alpha, math, out_dtype)
        if result is not None:
            return result
    return _dispatch("addmm", {"input": input, "a": a, "b": b}, (input, a, b, beta, alpha, math, out_dtype), out)


def baddbmm(input, a, b, *, beta=1, alpha=1, math=None, out_dtype=None, out=None):
    """Returns beta·input + alpha·a·b of stacks of matrices, as torch.baddbmm."""
    if out is None and not is_compiling():
        result = plain_baddbmm(input, a, b, beta, alpha, math, out_dtype)
        if result is not None:
            return result
    return _dispatch("baddbmm", {"input": input, "a": a, "b": b}, (input, a, b, beta, alpha, math, out_dtype), out)


def linear(x, w, bias=None, activation=None, *, math=None):
    """Returns activation(x·wᵀ + bias) in one pass, as torch.nn.functional.linear does without an activation.

    x has any number of dimensions, w is out_features×in_features; activation is 'relu', 'gelu' (its tanh form) or None.
    A vector w of in_features is one row, and the result then has a dimension less than x; bias is one number.
    16-bit results are rounded once, at the end.
    """
    if not is_compiling():
        result = plain_linear(x, w, bias, activation, math)
        if result is not None:
            return result
    _check_tensors("linear", x=x, w=w, bias=bias)
    return derivatives.operator("linear", x, w, bias, activation, math)


def grouped_mm(x, w, offsets, *, math=None, out_dtype=None):
    """Multiplies groups of rows by a matrix each, as torch.nn.functional.grouped_mm: a mixture of experts.

    offsets: where the groups end, ascending; int32 or int64. A GPU reads them itself in modes strict, tf32, bf16 and fp16
        where groups of rows have up to 64 rows on average, in each CUDA graph, and, if it is a Hopper GPU, where 16-bit
        tensors have lines that begin at multiples of 16 bytes; offsets out of order are not noticed then. Otherwise the
        host reads them, and the call waits for what computes them.
    x, w: rows of x (t×k) in group g are multiplied by w[g] (w is groups×k×n); the result is t×n, and zero after the last
        group. Or w is a matrix, t×n, and the groups are columns of x (m×t) and rows of w; the result is groups×m×n.

    A row's bits do not depend on its group's other rows, nor on other groups.
    """
    if not is_compiling():
        result = plain.grouped_mm(x, w, offsets, math, out_dtype)
        if result is not None:
            return result
    _check_tensors("grouped_mm", x=x, w=w, offsets=offsets)
    return derivatives.operator("grouped_mm", x, w, offsets, math, out_dtype)


def _plain_into(dimensions, a, b, math, out_dtype, out):
    """Multiplies plain tensors into one that has the result's shape and type. Returns whether it did."""
    if out_dtype not in (None, getattr(out, "dtype", None)):
        return False
    try:
        name = products.type_name(out_dtype)
        done = tensor_product(True, a, b, math, dimensions, None, 1, None, None, None, name, out)
    except InvalidArgument as error:
        products.raise_overlap(error)
    if done is None or done is False:
        return False
    torch.autograd.graph.increment_version(out)
    return True


def _check_tensors(name, **tensors):
    check.tensors(name, **tensors)
    if not is_compiling() and forward_ad._current_level >= 0:
        for argument, x in tensors.items():
            if isinstance(x, torch.Tensor) and forward_ad.unpack_dual(x).tangent is not None:
                raise NotImplementedError(
                    f"{name}: {argument} has a tangent, but tessera.torch has no forward-mode derivatives; use torch.{name}"
                )


def _dispatch(name, tensors, arguments, out):
    _check_tensors(name, **tensors)
    if out is None:
        return derivatives.operator(name, *arguments)
    check.tensors(name, out=out)
    if torch.is_grad_enabled() and any(x.requires_grad for x in (*tensors.values(), out)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if is_compiling() or not all(type(x) in (torch.Tensor, torch.nn.Parameter) for x in (*tensors.values(), out)):
        return _copied(name, derivatives.operator(name, *arguments), out)
    return _into(name, arguments, out)


def _copied(name, result, out):
    _check_out(name, result.shape, result.dtype, result.device, out)
    return out.copy_(result)


def _check_out(name, shape, dtype, device, out):
    if out.dtype != dtype:
        raise RuntimeError(f"{name}: Expected out tensor to have dtype {dtype}, but got {out.dtype} instead")
    if out.device != device:
        raise RuntimeError(f"{name}: Expected out tensor to be on {device}, but it is on {out.device}")
    products.resize(out, shape)


def _into(name, arguments, out):
    """Computes into out's memory. The shapes are checked before out is resized, and nothing is written on an error."""
    fake = operators.FAKES[name]
    meta = fake(*(x.to("meta") if isinstance(x, torch.Tensor) else x for x in arguments))
    first = next(x for x in arguments if isinstance(x, torch.Tensor))
    _check_out(name, meta.shape, meta.dtype, first.device, out)
    products.expect_own_places(out)
    if not is_direct(first, out):
        return out.copy_(getattr(ops, name).default(*arguments))
    kernel = operators.KERNELS[name]
    with torch.no_grad():
        result = products.without_overlap(kernel, *arguments, out=out)
    torch.autograd.graph.increment_version(out)
    return result


def is_direct(x, out):
    """Do the tensors have memory that the compiled module may use?"""
    return all(t.layout == torch.strided and t.device.type in ("cpu", "cuda") and not t.is_neg() for t in (x, out))
