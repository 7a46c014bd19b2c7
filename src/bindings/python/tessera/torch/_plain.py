"""Products of plain tensors, of which PyTorch has to see nothing, or only that autograd records them.

Each function returns None for other calls: under autocast, functorch, tracing, forward mode or other modes, with tensors of
other classes, and with options or layouts that the compiled module does not take. The functions of tessera.torch use them,
and so do the operators' autograd kernels of processors and GPUs, because the kernel that
torch.library.register_autograd() makes takes many times as long.
"""

import torch

from .. import _core
from . import _derivatives as derivatives
from . import _operators as operators
from . import _products as products

plain_product = _core._plain_product
tensor_product = _core._tensor_product
linear_product = _core._linear_product
kind_of_call = _core._kind_of_call

record = {name: derivatives.recording(name, kernel) for name, kernel in operators.KERNELS.items()}
quick = {
    name: derivatives.recording_quickly(name, operators.KERNELS[name], products.READS_TENSORS)
    for name in ("mm", "addmm", "bmm", "baddbmm", "linear")
}
record_linear = quick["linear"]


def product_of_two(name):
    """Returns the function of mm or bmm."""
    rank, recorded = operators.RANK[name], quick[name]

    def plain(a, b, math=None, out_dtype=None):
        if out_dtype is not None:
            return _typed(name, (a, b, math, out_dtype), a, b, math, out_dtype)
        result = plain_product(a, b, math, rank)
        if result is False:
            return recorded(a, b) if math is None else recorded(a, b, math)
        return result

    plain.__name__ = name
    return plain


def sum_with_product(name):
    """Returns the function of addmm or baddbmm."""
    rank, recorded = operators.RANK[name], quick[name]

    def plain(input, a, b, beta=1, alpha=1, math=None, out_dtype=None):
        if beta == 0:
            return None
        if out_dtype is not None:
            arguments = input, a, b, beta, alpha, math, out_dtype
            return _typed(name, arguments, a, b, math, out_dtype, input, beta, alpha)
        result = tensor_product(True, a, b, math, rank, input, beta, alpha)
        if result is False:
            usual = beta == 1 and alpha == 1 and math is None
            return recorded(input, a, b) if usual else recorded(input, a, b, beta, alpha, math)
        return result

    plain.__name__ = name
    return plain


mm, bmm = product_of_two("mm"), product_of_two("bmm")
addmm, baddbmm = sum_with_product("addmm"), sum_with_product("baddbmm")


def linear(x, w, bias=None, activation=None, math=None):
    result = linear_product(True, x, w, bias, activation, math)
    if result is False:
        usual = activation is None and math is None
        return record_linear(x, w, bias) if usual else record_linear(x, w, bias, activation, math)
    return result


def grouped_mm(x, w, offsets, math=None, out_dtype=None):
    kind = kind_of_call(x, w, offsets)
    if kind is None:
        return None
    return (operators.grouped_mm if kind else record["grouped_mm"])(x, w, offsets, math, out_dtype)


def _typed(name, arguments, a, b, math, out_dtype, c=None, beta=1, alpha=None):
    """Returns a product whose result has a type of its own."""
    if out_dtype not in products.TYPES:
        return None
    word = products.type_name(out_dtype)
    result = tensor_product(True, a, b, math, operators.RANK[name], c, beta, alpha, None, None, word)
    return record[name](*arguments) if result is False else result


OTHER = torch._C.DispatchKey.AutogradOther
_other, _below = torch._C.DispatchKeySet(OTHER), torch._C._dispatch_keyset_full_after(OTHER)


def autograd_kernel(plain):
    """Returns the operator's kernel for the autograd of processors and GPUs. What `plain` does not take goes to the kernel
    of torch.library.register_autograd(), which stays at the key AutogradOther."""
    operator = getattr(torch.ops.tessera, plain.__name__).default

    def kernel(keys, *arguments):
        result = plain(*arguments)
        return operator.redispatch(keys & _below | _other, *arguments) if result is None else result

    return kernel


def register():
    for plain in (mm, addmm, bmm, baddbmm, linear, grouped_mm):
        for key in ("AutogradCPU", "AutogradCUDA"):
            operators.LIBRARY.impl(plain.__name__, autograd_kernel(plain), key, with_keyset=True)


register()
