"""Arrays on a CUDA device: results as arrays of the operands' library, and batches of systems."""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import _core
from ._core import DeviceArray
from ._errors import InvalidArgument

_CUDA = (2, 13)  # DLPack's kinds of devices: a GPU's memory, and memory that it shares with the host


def _library_of(x: Any) -> Any:
    """Returns the module whose from_dlpack() makes arrays like x, or None."""
    try:  # the array API names it
        module = x.__array_namespace__()
    except (AttributeError, TypeError):
        module = None
    if hasattr(module, "from_dlpack"):
        return module
    for kind in type(x).__mro__:  # PyTorch does not
        module = sys.modules.get(kind.__module__.partition(".")[0])
        if hasattr(module, "from_dlpack"):
            return module
    return None


def is_vector(x: Any) -> bool:
    return getattr(x, "ndim", None) == 1


def has_batch(x: Any, stream: Any) -> bool:
    """Is x, a batch, on a CUDA device? Raises InvalidArgument for a stream where it is not."""
    device = getattr(x, "__dlpack_device__", None)
    if device is not None and int(device()[0]) in _CUDA:
        return True
    if device is None and hasattr(x, "__cuda_array_interface__"):
        return True
    if stream is not None:
        raise InvalidArgument(
            "stream is given, but a is in host memory; it orders work with arrays on a CUDA device"
        )
    return False


def in_library_of(model: Any, result: Any, as_vector: bool = False) -> Any:
    """Returns what _core._solve() returned, with an array of model's library in the place of each DeviceArray, which
    shares its memory. A library without from_dlpack() gets the DeviceArray, whose vectors are n×1."""
    if isinstance(result, tuple):
        return tuple(in_library_of(model, member) for member in result)
    if not isinstance(result, DeviceArray) or isinstance(model, DeviceArray):
        return result
    library = _library_of(model)
    if library is None:
        return result
    array = library.from_dlpack(result)
    return array.reshape(-1) if as_vector else array


def batch(
    task: str, a: Any, b: Any, otherwise: Callable[[], Any], *, lower: bool = True, backend: Any, threads: Any, stream: Any
) -> Any:
    """Computes a batch of systems in a few launches, or by otherwise() where the device has no kernels for them."""
    result = _core._solve_stacks(task, a, b, lower, backend, threads, stream)
    if result is None:
        return otherwise()
    if task != "lu":
        return in_library_of(a, result)
    import numpy as np

    packed, pivots = result
    shape = tuple(packed.shape)
    rows = np.frombuffer(pivots, np.int64).reshape(shape[:-2] + (min(shape[-2:]),))
    return in_library_of(a, packed), rows


def _of_no_systems(task: Callable[..., Any], arrays: tuple, batch: tuple, options: dict) -> Any:
    """Returns what a batch without systems gives: the shapes and errors of one system of the host, and none of its
    elements. An operand that has no elements is taken as the result's, which puts it on the device."""
    import numpy as np

    def system(x: Any) -> Any:
        kind = str(x.dtype).rpartition(".")[2]  # PyTorch's names begin with its own
        return np.ones(x.shape, kind) if is_vector(x) else np.eye(*x.shape[-2:], dtype=kind)

    def none_of(result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(map(none_of, result))
        if isinstance(result, list):
            return np.empty(batch + (len(result),), np.int64)
        return nothing.reshape(batch + result.shape)

    nothing = next(x for x in arrays if 0 in x.shape[:-2])
    return none_of(task(*map(system, arrays), **(options | dict(backend="auto", stream=None))))


def one_by_one(task: Callable[..., Any], arrays: tuple, **options: Any) -> Any:
    """Calls task(*matrices, **options), a function of this package, for each system of a batch and stacks the results.
    Pivots become a numpy.ndarray."""
    import numpy as np

    library = _library_of(arrays[0])
    if not hasattr(library, "stack"):
        raise TypeError(
            f"a batch of systems on a device needs the stack() of the arrays' library, and {type(arrays[0]).__name__} "
            "has none; pass matrices one by one"
        )
    batches = [() if is_vector(x) else tuple(x.shape[:-2]) for x in arrays]
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise InvalidArgument(
            f"the batches of a and b have the shapes {' and '.join(map(str, batches))}, which do not broadcast"
        ) from None
    if 0 in batch:
        return _of_no_systems(task, arrays, batch, options)

    def member(x: Any, own: tuple, index: tuple) -> Any:
        last = index[len(index) - len(own) :]
        return x[tuple(0 if size == 1 else i for size, i in zip(own, last))] if own else x

    results = []
    for index in np.ndindex(*batch):
        try:
            results.append(task(*(member(x, own, index) for x, own in zip(arrays, batches)), **options))
        except InvalidArgument as error:
            raise InvalidArgument(f"system {list(index)}: {error}") from None

    def stacked(members: tuple) -> Any:
        if isinstance(members[0], list):
            return np.asarray(members, np.int64).reshape(batch + (-1,))
        joined = library.stack(list(members))
        return joined.reshape(batch + tuple(joined.shape[1:]))

    if isinstance(results[0], tuple):
        return tuple(stacked(members) for members in zip(*results))
    return stacked(tuple(results))
