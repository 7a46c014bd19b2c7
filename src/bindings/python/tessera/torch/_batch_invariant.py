"""Puts Tessera's products, and functions that keep a row's bits, in place of PyTorch's for a model that is not to be changed.

The operators of _invariance.py's lists are overridden at the dispatch key BackendSelect, which lies below autograd, autocast and functorch and above
the kernels of the devices: PyTorch's own derivatives call them through it too. Operators that are in no list
are not touched and cost nothing more, whereas a TorchDispatchMode runs Python for each operator and is not seen by
torch.compile. Which mode is in force is kept in PyTorch's thread-local state, which autograd hands on to its threads.
"""

import ctypes
import functools
import threading
import typing

import torch

from .. import _core
from .._errors import InvalidArgument
from .._inventory import backends
from .._types import OF_MATRICES
from . import _inductor as inductor
from . import _operators as operators
from . import _overrides as overrides
from . import _products as products

_KEY = "tessera.torch.batch_invariant"
_C = torch._C
_aten = torch.ops.aten
product_of_two = _core._product_of_two
tensor_product = _core._tensor_product
_below = _C._dispatch_keyset_full_after(_C.DispatchKey.BackendSelect)

_lock = threading.Lock()
_own = threading.local()  # the modes that this thread is in, found faster than in PyTorch's state, and the outer ones
_users = 0
_library = None
_refusal = None


def _stash(modes):
    """Sets the modes of this thread. PyTorch (seen in 2.11) takes a reference over that the caller does not give."""
    _own.modes = modes
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(modes))
    _C._stash_obj_in_tls(_KEY, modes)


def current():
    """Returns the modes in force in this thread, or None. Threads of autograd find them in PyTorch's state."""
    try:
        return _own.modes
    except AttributeError:
        return _C._get_obj_in_tls(_KEY) if _C._is_key_in_tls(_KEY) else None


def _taken(*tensors):
    """Are these tensors with memory, outside of tracing? A model's integers, sparse and fake tensors stay PyTorch's."""
    return all(
        type(x).__torch_dispatch__ is _C._disabled_torch_dispatch_impl and x.layout == torch.strided and not x.is_quantized
        for x in tensors
    )


def _product(operator, a, b, c=None, beta=1, alpha=1, dtype=None, out=None):
    """Returns the product, or None where PyTorch computes it, or its checks have to report an error."""
    modes = current()
    mode = None if modes is None else modes.named.get((a.device.type, a.dtype))
    if mode is None:
        return None
    if out is None and dtype is None:
        done = tensor_product(False, a, b, mode, operators.RANK[operator], c if beta != 0 else None, beta, alpha)
        if done is not None:
            return done
    tensors = [x for x in (a, b, c, out) if x is not None]
    if not _taken(*tensors) or any(x.device != a.device for x in tensors):
        return None
    try:
        if c is None:
            shape, result = operators.shape_of_mm(operator, a, b, dtype)
        else:
            shape, result = operators.shape_of_addmm(operator, c, a, b, beta, alpha, dtype)
    except RuntimeError:  # PyTorch's own kernel has its own words for it
        return None
    if out is None:
        return products.product(a, b, mode, c, beta, alpha, dtype=dtype)
    if out.dtype != result or (out is c and tuple(out.shape) != tuple(shape)):
        return None
    products.resize(out, shape)
    products.expect_own_places(out)
    return products.without_overlap(products.product, a, b, mode, c, beta, alpha, dtype=dtype, out=out)


def _override(name, function):
    """Returns the kernel of an operator: the function's result, or PyTorch's where that is None."""
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(_aten, packet), overload or "default")

    def kernel(keys, *arguments, **keywords):
        result = function(*arguments, **keywords)
        return operator.redispatch(keys & _below, *arguments, **keywords) if result is None else result

    return kernel


def _mm(name):
    return {
        f"{name}.out": lambda a, b, *, out: _product(name, a, b, out=out),
        f"{name}.dtype": lambda a, b, out_dtype: _product(name, a, b, dtype=out_dtype),
    }


def _kernel_of_two(name):
    """Returns the kernel of mm or bmm, which is written out because these calls are the most frequent ones."""
    operator, rank = getattr(_aten, name).default, operators.RANK[name]

    def kernel(keys, a, b):
        modes = current()
        if modes is not None:
            result = product_of_two(a, b, modes.words, rank)
            if result is None:
                result = _product(name, a, b)
            if result is not None:
                return result
        return operator.redispatch(keys & _below, a, b)

    return kernel


def _kernel_of_sum(name):
    """Returns the kernel of addmm or baddbmm, which linear() with a bias calls."""
    operator, rank = getattr(_aten, name).default, operators.RANK[name]

    def kernel(keys, c, a, b, *, beta=1, alpha=1):
        modes = current()
        if modes is not None:
            result = tensor_product(False, a, b, modes.words, rank, c if beta != 0 else None, beta, alpha)
            if result is None:
                result = _product(name, a, b, c, beta, alpha)
            if result is not None:
                return result
        return operator.redispatch(keys & _below, c, a, b, beta=beta, alpha=alpha)

    return kernel


def _addmm(name):
    return {
        f"{name}.out": lambda c, a, b, *, beta=1, alpha=1, out: _product(name, a, b, c, beta, alpha, out=out),
        f"{name}_": lambda c, a, b, *, beta=1, alpha=1: _product(name, a, b, c, beta, alpha, out=c),
        f"{name}.dtype": lambda c, a, b, out_dtype, *, beta=1, alpha=1: _product(
            name, a, b, c, beta, alpha, dtype=out_dtype
        ),
    }


def _vector(a, x, c=None, beta=1, alpha=1):
    """A product of a matrix and a vector, whose rows are rows of a product with one column."""
    if a.dim() != 2 or x.dim() != 1 or (c is not None and c.dim() > 1):
        return None
    column = None if c is None else c.reshape(-1, 1)
    result = _product("mm" if c is None else "addmm", a, x.unsqueeze(1), column, beta, alpha)
    return None if result is None else result.squeeze(1)


def _vector_into(a, x, c, beta, alpha, out):
    result = _vector(a, x, c, beta, alpha) if out.dtype == a.dtype and out.device == a.device else None
    if result is None:
        return None
    products.resize(out, result.shape)
    products.expect_own_places(out)
    return out.copy_(result)


def _activated(c, a, b, *, beta=1, alpha=1, use_gelu=False):
    result = _product("addmm", a, b, c, beta, alpha)
    if result is None:
        return None
    if not use_gelu:
        return torch.relu_(result)
    return torch.nn.functional.gelu(result, approximate="tanh" if a.is_cuda else "none")  # as PyTorch's kernels


_OVERRIDES = {
    **_mm("mm"),
    **_mm("bmm"),
    **_addmm("addmm"),
    **_addmm("baddbmm"),
    "mv": lambda a, x: _vector(a, x),
    "addmv": lambda c, a, x, *, beta=1, alpha=1: _vector(a, x, c, beta, alpha),
    "addmv.out": lambda c, a, x, *, beta=1, alpha=1, out: _vector_into(a, x, c, beta, alpha, out),
    "addmv_": lambda c, a, x, *, beta=1, alpha=1: _vector_into(a, x, c, beta, alpha, c),
    "_addmm_activation": _activated,
}


def _register():
    library = torch.library.Library("aten", "IMPL")
    for name, function in _OVERRIDES.items():
        packet, _, overload = name.partition(".")
        if hasattr(getattr(_aten, packet), overload or "default"):
            library.impl(name, _override(name, function), "BackendSelect", with_keyset=True)
    for name in ("mm", "bmm"):
        library.impl(name, _kernel_of_two(name), "BackendSelect", with_keyset=True)
    for name in ("addmm", "baddbmm"):
        library.impl(name, _kernel_of_sum(name), "BackendSelect", with_keyset=True)
    for name, kernel in overrides.kernels(current).items():
        library.impl(name, kernel, "BackendSelect", with_keyset=True)
    return library


def _keeps_rows(backend, math, dtype):
    """Has a product in this mode bits on the backend that do not depend on the batch, whatever kernel is chosen?"""
    return _core.promises_bits(backend, dtype, math)


class Modes(typing.NamedTuple):
    """The modes of products."""

    named: dict  #: by the kind of device and the element type
    words: tuple  #: in the order in which the compiled module finds the one of a tensor: product.hpp


@functools.cache
def _modes(math, allow_tf32):
    """Returns the mode of each kind of device and element type. Refuses a mode whose rows depend on the batch."""
    if math is not None and allow_tf32:
        raise InvalidArgument(f"allow_tf32 = True beside math = '{math}': the mode is named already; leave one of them out")
    present = {"cuda" if b.name == "cuda" else "cpu": b.name for b in backends() if b.available}
    if math is not None and math != "strict":
        _core._tensor_mode(math)
        keeping = [(kind, t) for kind, name in present.items() for t in _real_types() if _keeps_rows(name, math, t)]
        if not keeping:
            raise InvalidArgument(
                f"math = '{math}': no available backend ({', '.join(sorted(present.values()))}) has kernels of this mode "
                "whose rows do not depend on the batch; 'strict' has them"
            )
    found = {}
    words = []
    for kind in ("cpu", "cuda"):
        for one in OF_MATRICES:
            mode = math or "strict"
            units = None if one.is_complex or one.matrix_units == "strict" else one.matrix_units
            if allow_tf32 and one.name == "float32":
                units = "tf32"
            if math is None and kind == "cuda" and units and "cuda" in present and _keeps_rows("cuda", units, one.name):
                mode = units
            words.append(mode)
            if hasattr(torch, one.name):
                found[kind, getattr(torch, one.name)] = mode
    return Modes(found, tuple(words))


def _real_types():
    return [name for dtype, (_, _, name) in products.TYPES.items() if not dtype.is_complex]


class batch_invariant:
    """Gives each row the same bits alone and in a batch, in this thread, until the end of the `with`.

    math: one mode for all products. None: 'strict'; and on a GPU the matrix units for 16-bit tensors, once their
        kernels keep the bits of a row whatever shares the batch. A mode without such kernels is refused.
    allow_tf32: float32 tensors on a GPU may have tf32's accuracy, where kernels keep the bits of a row: they are
        multiplied in 'tf32'. Only without `math`; math = 'scaled_fp16' has smaller errors and takes longer.

    aten's mm, bmm, addmm, baddbmm, mv, addmv and _addmm_activation are Tessera's products, and so matmul, linear, einsum
    and the backward passes that are made of them. Sums are products too; on the processor so is fused attention, and
    activations and other functions of elements do not depend on the elements' places. tessera.torch._invariance lists
    them, and the exceptions: PyTorch computes those as before, after a warning. Integer, sparse and quantized tensors are
    PyTorch's own. What inductor compiled raises RuntimeError. The modes of nested uses end in the opposite order, also after an exception. Other threads are
    not affected; the threads of a backward pass take over the mode of the thread that called backward().
    """

    def __init__(self, math=None, *, allow_tf32=False):
        self._modes = _modes(math, allow_tf32)

    def __enter__(self):
        global _library, _refusal, _users
        with _lock:
            if _library is None:
                _library = _register()
            if _users == 0:
                overrides.said.clear()
                _refusal = inductor.Refusal(lambda: current() is not None)
            _users += 1
        _own.__dict__.setdefault("outer", []).append(current())
        _stash(self._modes)
        return self

    def __exit__(self, kind, error, trace):
        global _library, _refusal, _users
        _stash(_own.outer.pop())
        with _lock:
            _users -= 1
            if _users == 0:
                _refusal.close()
                _refusal = None
            # Another thread may be inside a kernel that would be freed. The kernels then stay, and let PyTorch multiply,
            # until a later use ends.
            if _users == 0 and threading.active_count() == 1:
                _library._destroy()
                _library = None
        return False
