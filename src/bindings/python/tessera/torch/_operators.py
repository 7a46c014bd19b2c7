"""The operators tessera::mm and so on in PyTorch's dispatcher: kernels, shapes, autograd, autocast and vmap."""

import math as numbers

import torch

from .. import _core
from . import _checks as check
from . import _derivatives as derivatives
from . import _products as products

LIBRARY = torch.library.Library("tessera", "DEF")

SCHEMAS = {
    "mm": "(Tensor a, Tensor b, str? math=None, ScalarType? out_dtype=None) -> Tensor",
    "addmm": "(Tensor input, Tensor a, Tensor b, Scalar beta=1, Scalar alpha=1, str? math=None, "
    "ScalarType? out_dtype=None) -> Tensor",
    "bmm": "(Tensor a, Tensor b, str? math=None, ScalarType? out_dtype=None) -> Tensor",
    "baddbmm": "(Tensor input, Tensor a, Tensor b, Scalar beta=1, Scalar alpha=1, str? math=None, "
    "ScalarType? out_dtype=None) -> Tensor",
    "linear": "(Tensor x, Tensor w, Tensor? bias=None, str? activation=None, str? math=None) -> Tensor",
    "grouped_mm": "(Tensor x, Tensor w, Tensor offsets, str? math=None, ScalarType? out_dtype=None) -> Tensor",
}


#: How many dimensions the operands have.
RANK = {"mm": 2, "addmm": 2, "bmm": 3, "baddbmm": 3}

#: Element types of groups.
REAL = frozenset(dtype for dtype in products.TYPES if not dtype.is_complex)

tensor_product = _core._tensor_product
linear_product = _core._linear_product


# Each function below checks its arguments and returns the result's shape and type.


def shape_of_mm(operator, a, b, out_dtype):
    check.alike(operator, out_dtype, a=a, b=b)
    check.dimensions(operator, RANK[operator], a=a, b=b)
    return check.multiplied(operator, a, b), out_dtype or a.dtype


def shape_of_addmm(operator, input, a, b, beta, alpha, out_dtype):
    check.alike(operator, out_dtype, a=a, b=b, input=input)
    check.factors(operator, a, alpha=alpha, beta=beta)
    check.dimensions(operator, RANK[operator], a=a, b=b)
    shape = check.multiplied(operator, a, b)
    check.broadcast(operator, input, shape)
    return shape, out_dtype or a.dtype


def shape_of_linear(x, w, bias, activation):
    check.activation(activation)
    check.alike("linear", None, x=x, w=w, bias=bias)
    if w.dim() != 1:  # a vector is the one row of a matrix, and the result has no dimension for it
        check.dimensions("linear", 2, w=w)
    rows = 1 if w.dim() == 1 else w.shape[0]
    torch._check(
        x.dim() >= 1 and x.shape[-1] == w.shape[-1],
        lambda: f"linear: x and w shapes cannot be multiplied ({check.shape(x)} and {check.shape(w)} transposed)",
    )
    if bias is not None and not (w.dim() == 1 and bias.dim() == 0):
        check.dimensions("linear", 1, bias=bias)
        torch._check(
            bias.shape[0] == rows,
            lambda: f"linear: bias has {bias.shape[0]} elements, but w ({check.shape(w)}) has {rows} rows",
        )
    if activation is not None and x.dtype.is_complex:
        raise NotImplementedError(f"linear: activation '{activation}' is not implemented for {x.dtype}")
    return (*x.shape[:-1], *w.shape[:-1]), x.dtype


def shape_of_grouped(x, w, offsets, out_dtype):
    check.alike("grouped_mm", out_dtype, x=x, w=w)
    if x.dtype.is_complex:
        raise NotImplementedError(f'"tessera::grouped_mm" not implemented for {x.dtype}')
    check.dimensions("grouped_mm", 2, x=x)
    check.dimensions("grouped_mm", 1, offsets=offsets)
    if offsets.dtype not in (torch.int32, torch.int64):
        raise RuntimeError(f"grouped_mm: offsets must be torch.int32 or torch.int64, but got {offsets.dtype}")
    if w.dim() == 2:
        torch._check(
            x.shape[1] == w.shape[0],
            lambda: f"grouped_mm: x and w shapes cannot be multiplied ({check.shape(x)} and {check.shape(w)})",
        )
        return (offsets.shape[0], x.shape[0], w.shape[1]), out_dtype or x.dtype
    check.dimensions("grouped_mm", 3, w=w)
    torch._check(
        w.shape[0] == offsets.shape[0],
        lambda: f"grouped_mm: w ({check.shape(w)}) has {w.shape[0]} matrices, but offsets {offsets.shape[0]} numbers",
    )
    torch._check(
        x.shape[1] == w.shape[1],
        lambda: f"grouped_mm: x and w shapes cannot be multiplied ({check.shape(x)} and {check.shape(w)})",
    )
    return (x.shape[0], w.shape[2]), out_dtype or x.dtype


# The kernels, and the same functions for tensors without memory. `out` is for functions with out=.


def mm(a, b, math=None, out_dtype=None, out=None, operator="mm"):
    if out is None and out_dtype is None:  # checks that succeed cost more than small products
        done = tensor_product(False, a, b, math, RANK[operator])
        if done is not None:
            return done
    shape_of_mm(operator, a, b, out_dtype)
    return products.product(a, b, math, dtype=out_dtype, out=out)


def addmm(input, a, b, beta=1, alpha=1, math=None, out_dtype=None, out=None, operator="addmm"):
    if out is None and out_dtype is None and beta != 0:
        done = tensor_product(False, a, b, math, RANK[operator], input, beta, alpha)
        if done is not None:
            return done
    shape_of_addmm(operator, input, a, b, beta, alpha, out_dtype)
    return products.product(a, b, math, input, beta, alpha, dtype=out_dtype, out=out)


def bmm(a, b, math=None, out_dtype=None, out=None):
    return mm(a, b, math, out_dtype, out, "bmm")


def baddbmm(input, a, b, beta=1, alpha=1, math=None, out_dtype=None, out=None):
    return addmm(input, a, b, beta, alpha, math, out_dtype, out, "baddbmm")


def linear(x, w, bias=None, activation=None, math=None):
    done = linear_product(False, x, w, bias, activation, math)
    if done is not None:
        return done
    shape, _ = shape_of_linear(x, w, bias, activation)
    rows = x.reshape(numbers.prod(x.shape[:-1]), x.shape[-1])
    if w.dim() == 1:
        w, bias = w.unsqueeze(0), None if bias is None else bias.reshape(1)
    # The result is no view of the product: autograd forbids to change a view that a recorded call returns in place.
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    out = result.view(rows.shape[0], w.shape[0])
    products.product(rows, w.t(), math, bias=bias, activation=activation, out=out)
    return result


def usual_shape_of_grouped(x, w, offsets):
    """Returns the shape of a result that needs no further check, or None. It takes a tenth of the time of the checks."""
    dtype = x.dtype
    if dtype != w.dtype or dtype not in REAL or x.device != w.device or offsets.dtype not in (torch.int32, torch.int64):
        return None
    sizes, own, groups = x.shape, w.shape, offsets.shape
    if len(sizes) != 2 or len(groups) != 1 or len(own) not in (2, 3) or sizes[1] != own[-2]:
        return None
    if len(own) == 2:
        return groups[0], sizes[0], own[1]
    return (sizes[0], own[2]) if own[0] == groups[0] else None


def grouped_mm(x, w, offsets, math=None, out_dtype=None):
    shape = None if out_dtype is not None else usual_shape_of_grouped(x, w, offsets)
    shape, dtype = (shape, x.dtype) if shape else shape_of_grouped(x, w, offsets, out_dtype)
    if products.may_read_on_device(x, w, offsets, math):
        out = torch.empty(shape, dtype=dtype, device=x.device)
        if products.grouped_on_device(x, w, offsets, math, out):
            return out
    ends = check.ends(offsets, x.shape[1] if w.dim() == 2 else x.shape[0])
    covered = w.dim() == 2 or (ends[-1] if ends else 0) == x.shape[0]
    out = (torch.empty if covered else torch.zeros)(shape, dtype=dtype, device=x.device)
    return products.grouped(x, w, ends, math, dtype, out)


KERNELS = {"mm": mm, "addmm": addmm, "bmm": bmm, "baddbmm": baddbmm, "linear": linear, "grouped_mm": grouped_mm}


def empty(like, found):
    shape, dtype = found
    return like.new_empty(shape, dtype=dtype)


FAKES = {
    "mm": lambda a, b, math=None, out_dtype=None: empty(a, shape_of_mm("mm", a, b, out_dtype)),
    "bmm": lambda a, b, math=None, out_dtype=None: empty(a, shape_of_mm("bmm", a, b, out_dtype)),
    "addmm": lambda input, a, b, beta=1, alpha=1, math=None, out_dtype=None: empty(
        a, shape_of_addmm("addmm", input, a, b, beta, alpha, out_dtype)
    ),
    "baddbmm": lambda input, a, b, beta=1, alpha=1, math=None, out_dtype=None: empty(
        a, shape_of_addmm("baddbmm", input, a, b, beta, alpha, out_dtype)
    ),
    "linear": lambda x, w, bias=None, activation=None, math=None: empty(x, shape_of_linear(x, w, bias, activation)),
    "grouped_mm": lambda x, w, offsets, math=None, out_dtype=None: empty(x, shape_of_grouped(x, w, offsets, out_dtype)),
}


def autocast(name, device, key):
    """Returns a kernel that converts tensors to autocast's type, as PyTorch's own products do. float64 stays."""
    keys = torch._C.DispatchKeySet(key)

    def cast(x, dtype):
        taken = isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype != torch.float64
        return x.to(dtype) if taken and x.device.type == device else x

    def kernel(*args, **keywords):
        dtype = torch.get_autocast_dtype(device)
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return getattr(torch.ops.tessera, name).default(*(cast(x, dtype) for x in args), **keywords)

    return kernel


def register():
    for name, schema in SCHEMAS.items():
        LIBRARY.define(name + schema)
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(name, KERNELS[name], key)
        for key, device in ((torch._C.DispatchKey.AutocastCPU, "cpu"), (torch._C.DispatchKey.AutocastCUDA, "cuda")):
            LIBRARY.impl(name, autocast(name, device, key), key.name)
        torch.library.register_fake(f"tessera::{name}", FAKES[name], lib=LIBRARY)
        backward, setup = derivatives.BACKWARD[name]
        torch.library.register_autograd(f"tessera::{name}", backward, setup_context=setup, lib=LIBRARY)
        if name in derivatives.VMAP and hasattr(torch.library, "register_vmap"):
            torch.library.register_vmap(f"tessera::{name}", derivatives.VMAP[name], lib=LIBRARY)


register()
