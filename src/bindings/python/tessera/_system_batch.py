"""Batches of linear systems: arrays whose last two dimensions are matrices, as numpy.linalg has them."""

from __future__ import annotations

from typing import Any

from . import _core
from ._errors import InvalidArgument

_TYPES = ("float32", "float64", "complex64", "complex128")
_ON_HOST = (1, 3)  # DLPack's kinds of devices whose memory the host reads


def _dimensions(x: Any) -> int:
    ndim = getattr(x, "ndim", None)
    if isinstance(ndim, int):
        return ndim
    interface = getattr(x, "__cuda_array_interface__", None)
    if isinstance(interface, dict):
        return len(interface.get("shape", ()))
    try:
        return memoryview(x).ndim
    except TypeError:  # no array, which the function refuses by itself
        return 0


def is_batch(a: Any, b: Any = None) -> bool:
    """Is one of the arguments an array of more than two dimensions?"""
    return any(_dimensions(x) > 2 for x in (a, b))


def _array(x: Any, name: str) -> Any:
    """Returns the argument as a numpy.ndarray that shares its memory."""
    import numpy as np

    _core.expect_plain(x, name)
    if not isinstance(x, np.ndarray) and not hasattr(x, "__dlpack__"):
        try:
            x = np.asarray(memoryview(x))
        except TypeError:
            raise TypeError(
                f"{name} must be an array (of NumPy, or anything with __dlpack__), not {type(x).__name__}"
            ) from None
    elif not isinstance(x, np.ndarray):
        device = x.__dlpack_device__()
        if int(device[0]) not in _ON_HOST:
            raise TypeError(
                f"{name} is on device {device[1]} of DLPack's type {int(device[0])}; linear systems are solved in host "
                "memory, copy it there first"
            )
        x = np.from_dlpack(x)
    if x.dtype.name not in _TYPES or not x.dtype.isnative:
        raise TypeError(
            f"{name} holds {x.dtype}; linear systems are solved in float32, float64, complex64 and complex128"
        )
    return x


def _matrices(x: Any, name: str) -> Any:
    x = _array(x, name)
    if x.ndim < 2:
        raise InvalidArgument(
            f"{name} has {x.ndim} dimensions, but the matrices of linear systems have 2, and batches more; reshape it"
        )
    return x


def _square(x: Any, name: str, function: str) -> Any:
    x = _matrices(x, name)
    if x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(
            f"{function}: the matrices of {name} are {x.shape[-2]}×{x.shape[-1]}, and must be square"
        )
    return x


def _by_rows(x: Any) -> Any:
    """Returns the array itself where its matrices are rows of neighbouring elements, or a copy."""
    rows, cols = x.shape[-2:]
    row, col = x.strides[-2:]
    step = x.itemsize
    fits = (
        x.flags.aligned
        and (cols <= 1 or col == step)
        and (rows <= 1 or (row >= max(cols, 1) * step and row % step == 0))
    )
    return x if fits else x.copy(order="C")


def solve(task: str, a: Any, b: Any, lower: bool, backend: Any, threads: Any) -> Any:
    """Returns x of a·x = b for each system. task: 'solve', or 'positive' for Cholesky's way."""
    import numpy as np

    a, b = _square(a, "a", "solve"), _array(b, "b")
    if b.dtype != a.dtype:
        raise TypeError(f"a holds {a.dtype} and b holds {b.dtype}; both must have one type")
    if b.ndim == 0:
        raise InvalidArgument("b has 0 dimensions, but right-hand sides are a vector, a matrix or a batch of matrices")
    is_vector = b.ndim == 1
    right = b[:, None] if is_vector else b
    n = a.shape[-1]
    if right.shape[-2] != n:
        raise InvalidArgument(
            f"solve: the matrices of a are {n}×{n}, and b has {right.shape[-2]} rows; it must have {n}"
        )
    try:
        batch = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    except ValueError:
        raise InvalidArgument(
            f"solve: a has a batch of shape {a.shape[:-2]} and b one of {right.shape[:-2]}, which do not broadcast"
        ) from None
    x = np.empty(batch + right.shape[-2:], a.dtype)
    x[...] = right
    _core._solve_batch(task, np.broadcast_to(_by_rows(a), batch + (n, n)), x, None, lower, backend, threads)
    return x[..., 0] if is_vector else x


def inverse(a: Any, backend: Any, threads: Any) -> Any:
    import numpy as np

    a = _square(a, "a", "inverse")
    x = np.empty(a.shape, a.dtype)
    _core._solve_batch("inverse", _by_rows(a), x, None, True, backend, threads)
    return x


def cholesky(a: Any, lower: bool, backend: Any, threads: Any) -> Any:
    import numpy as np

    a = _square(a, "a", "cholesky")
    low = np.ascontiguousarray(np.tril(a if lower else np.conj(np.swapaxes(a, -1, -2))))
    _core._solve_batch("cholesky", None, low, None, True, backend, threads)
    return low


def lu(a: Any, backend: Any, threads: Any) -> tuple[Any, Any]:
    import numpy as np

    packed = np.array(_matrices(a, "a"), order="C")
    pivots = np.empty(packed.shape[:-2] + (min(packed.shape[-2:]),), np.int64)
    _core._solve_batch("lu", None, packed, pivots, True, backend, threads)
    return packed, pivots


def one_by_one(
    task: str, arrays: tuple, lower: bool, unit_diagonal: bool, backend: Any, threads: Any, math: Any = None
) -> Any:
    """Does a task of _core._solve for each system, one after another."""
    import numpy as np

    named = [(_array if name == "b" else _matrices)(x, name) for x, name in zip(arrays, ("a", "b"))]
    is_vector = len(named) > 1 and named[1].ndim == 1
    if is_vector:
        named[1] = named[1][:, None]
    if any(x.ndim < 2 for x in named):
        raise InvalidArgument("b has 0 dimensions, but right-hand sides are a vector, a matrix or a batch of matrices")
    try:
        batch = np.broadcast_shapes(*(x.shape[:-2] for x in named))
    except ValueError:
        shapes = " and ".join(str(x.shape[:-2]) for x in named)
        raise InvalidArgument(f"the batches of a and b have the shapes {shapes}, which do not broadcast") from None
    if 0 in batch:  # one system of zeros has the shapes and the types
        empty = [np.ones(x.shape[-2:], x.dtype) * np.eye(*x.shape[-2:], dtype=x.dtype) for x in named]
        right = empty[1] if len(empty) > 1 else None
        results = [_core._solve(task, empty[0], right, lower, unit_diagonal, backend, threads, math=math)]
    else:
        whole = [np.broadcast_to(x, batch + x.shape[-2:]) for x in named]
        results = []
        for i in np.ndindex(*batch):
            right = whole[1][i] if len(whole) > 1 else None
            try:
                results.append(_core._solve(task, whole[0][i], right, lower, unit_diagonal, backend, threads, math=math))
            except InvalidArgument as error:
                raise InvalidArgument(f"system {list(i)}: {error}") from None

    def stacked(members: list) -> Any:
        members = [np.asarray(one) for one in members]
        joined = np.stack(members)[:0] if 0 in batch else np.stack(members)
        joined = joined.reshape(batch + members[0].shape)
        return joined[..., 0] if is_vector else joined

    if isinstance(results[0], tuple):
        return tuple(stacked(list(members)) for members in zip(*results))
    return stacked(results)
