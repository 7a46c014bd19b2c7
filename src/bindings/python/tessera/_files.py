"""Products of matrices in .npy files that need not fit into memory."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from . import _core
from ._errors import InvalidArgument
from ._inventory import dtype_name


@dataclass(frozen=True)
class FileProgress:
    """How far a product of files has come."""

    blocks: int  #: blocks of the result
    blocks_done: int  #: blocks that are on the disk, from an earlier call too
    operations: float  #: floating-point operations that this call does
    operations_done: float  #: floating-point operations that this call has done
    bytes_read: int  #: bytes that were read
    bytes_written: int  #: bytes of the result that were written


@dataclass(frozen=True)
class FileReport:
    """What a product of files has done."""

    dtype: str  #: NumPy's name of the operands' element type
    result_dtype: str  #: NumPy's name of the result's element type
    m: int  #: rows of the result
    n: int  #: columns of the result
    k: int  #: columns of a and rows of b
    block_m: int  #: rows of a block of the result
    block_n: int  #: columns of a block of the result
    blocks: int  #: number of blocks
    blocks_done_before: int  #: blocks that an earlier call had left on the disk
    planned_bytes: int  #: memory that the product was going to take
    allocated_bytes: int  #: memory that it took; at most planned_bytes
    bytes_read: int  #: bytes that were read
    bytes_written: int  #: bytes of the result that were written
    seconds: float  #: the time of all of it
    seconds_reading: float  #: time in which executors waited for the files of a and b
    seconds_writing: float  #: time in which executors waited for the file of the result


def multiply_files(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    memory_limit: int,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1,
    beta: float = 0,
    c: str | os.PathLike[str] | None = None,
    dtype: Any = None,
    backend: str | Iterable[str] | None = "auto",
    devices: Iterable[int] | None = None,
    math: str | None = "strict",
    kernel: str | None = None,
    threads: int | None = None,
    start_over: bool = False,
    progress: Callable[[FileProgress], object] | None = None,
) -> FileReport:
    """alpha·a·b + beta·c of matrices in .npy files, into the file out, within a limit of memory.

    a, b: files of matrices of one element type, float16, bfloat16, float32 or float64, in C or Fortran order.
    out: the file to write, in C order. It appears under its name when it is complete; it may be c, but not a or b.
    memory_limit: bytes of host memory that the product may take; one that is too small is refused with the smallest
        that would do.
    transpose_a, transpose_b: multiply the transpose of the matrix in the file.
    alpha, beta: numbers that are exact in the type of the sums, which is float64 for float64 and else float32.
    c: the file of the matrix that beta multiplies, of the result's type; it is needed with beta ≠ 0.
    dtype: the type of the result if it is not the operands': float32 for 16-bit files, or 16 bits for float32.
    backend: a name as for gemm, or several, which share the blocks of the result; devices: the numbers of the GPUs of
        these backends that compute.
    math, kernel: as for gemm; threads: of the host, for each backend.
    start_over: discard an unfinished product instead of going on with it.
    progress: is called with a FileProgress now and then, in the calling thread; an exception stops the product.

    The result has the bits of gemm with the matrices in memory. A product that was stopped, by Ctrl-C, an error or the
    end of the process, leaves its finished blocks on the disk, and the same call goes on with it. Other threads of
    Python run meanwhile.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import tessera as ts
    >>> folder = tempfile.TemporaryDirectory()
    >>> a, b, c = (os.path.join(folder.name, name) for name in ("a.npy", "b.npy", "c.npy"))
    >>> np.save(a, np.eye(3, dtype=np.float32))
    >>> np.save(b, np.arange(6, dtype=np.float32).reshape(3, 2))
    >>> report = ts.multiply_files(a, b, c, memory_limit=16 << 20, alpha=2)
    >>> np.load(c)
    array([[ 0.,  2.],
           [ 4.,  6.],
           [ 8., 10.]], dtype=float32)
    """
    tell = None if progress is None else lambda *numbers: progress(FileProgress(*numbers))
    numbers = _core._multiply_files(
        _path(a, "a"),
        _path(b, "b"),
        _path(out, "out"),
        _limit(memory_limit),
        transpose_a,
        transpose_b,
        _number(alpha, "alpha"),
        _number(beta, "beta"),
        None if c is None else _path(c, "c"),
        None if dtype is None else dtype_name(dtype),
        _executors(backend, devices),
        math,
        kernel,
        threads,
        start_over,
        tell,
    )
    return FileReport(*numbers)


def _path(path: str | os.PathLike[str], name: str) -> bytes:
    try:
        encoded = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{name} must be a path, a str or os.PathLike, not {type(path).__name__}") from None
    if b"\0" in encoded:
        raise InvalidArgument(f"{name} = {path!r} holds a null character, which no file's name has")
    return encoded


def _limit(memory_limit: int) -> int:
    try:
        limit = operator.index(memory_limit)
    except TypeError:
        raise TypeError(f"memory_limit must be an int, in bytes, not {type(memory_limit).__name__}") from None
    if limit <= 0:
        raise InvalidArgument(f"memory_limit = {limit}; a product of files needs a limit of memory, in bytes")
    return min(limit, sys.maxsize)


def _number(value: float, name: str) -> float:
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except TypeError:
        raise TypeError(f"{name} must be a real number, not {type(value).__name__}") from None


def _executors(
    backend: str | Iterable[str] | None, devices: Iterable[int] | None
) -> list[tuple[str | None, int | None]]:
    """Pairs of a backend and a device for the compiled part; none leaves the choice to the library."""
    if devices is None and backend in (None, "auto"):
        return []
    names = [backend] if backend is None or isinstance(backend, str) else list(backend)
    if devices is None:
        return [(name, None) for name in names]
    try:
        numbers = [operator.index(device) for device in devices]
    except TypeError:
        raise TypeError(f"devices must be whole numbers, not {devices!r}") from None
    if not numbers or not all(0 <= number < 2**31 for number in numbers):
        raise InvalidArgument(f"devices = {numbers}; name devices by 0, 1, …")
    return [(name, number) for name in names for number in numbers]
