"""Linear systems, with bits that do not depend on backend, threads or processor.

Where a function returns "a new numpy.ndarray", arrays on a CUDA device give an array of their own library there.
"""

from __future__ import annotations

import functools
from typing import Any

from . import _core, _device, _system_batch
from ._errors import InvalidArgument


def solve(a, b, *, assume="general", lower=True, refine=False, math="strict", backend="auto", threads=None, stream=None) -> Any:
    """Returns x of a·x = b as a new numpy.ndarray, or an array of a's library on its CUDA device.

    a: n×n, float32, float64, complex64 or complex128. b: n×m, or a vector of n, of the same type. Both are arrays of
        any library in host memory, or both on one CUDA device, where they are solved without a copy to the host. They
        may have any strides, and are never changed. More dimensions before these are a batch of systems, as in
        numpy.linalg.solve: the batches of a and b broadcast, and b is a vector, for all systems, only where it has one
        dimension. Each system has the bits that it has alone.
    assume: 'general' factors a by LU with partial pivoting; 'positive' takes it as symmetric (Hermitian, where it is
        complex) and positive definite, reads one triangle of it (lower: which one) and factors it by Cholesky's way, in
        half the time.
    refine: factors a general a of float64 or complex128 in float32 or complex64, refines the solution, and certifies it
        before it is returned, with check_solve()'s limit; InvalidArgument where such factors do not lead there. On a
        device a is of float64, and stays there; columns of b and x visit the host, which adds corrections to them.
    math: with refine, and a of float64: the mode of most of the factorisation's products, 'strict', 'emulated_fp16x3'
        or 'scaled_fp16'. The last two are fast on a GPU with matrix units; the bits are other ones.
    backend, threads: as in gemm, for the products that are nearly all of the work. The bits are equal for all.
    stream: the number of a CUDA stream, for arrays on a device. The work starts after the work in the stream, and later
        work in the stream waits for it; the call waits for no more than pivots and failures, and with refine until x
        is certified. None: done on return.

    Raises InvalidArgument, which is a ValueError, for shapes that do not fit, a singular matrix (with the number of the
    pivot that is 0) and one that is not positive definite (with the order of the leading minor); of a batch it names
    the first one.

    >>> import numpy as np
    >>> import tessera as ts
    >>> a = np.array([[0.0, 2.0], [4.0, 1.0]])
    >>> ts.solve(a, np.array([2.0, 9.0]))
    array([2., 1.])
    """
    if assume not in ("general", "positive"):
        raise InvalidArgument(f"assume: unknown word {assume!r}; use 'general' or 'positive'")
    if refine and assume != "general":
        raise InvalidArgument(f"refine: is for general matrices, and assume is {assume!r}")
    if math != "strict" and not refine:
        raise InvalidArgument(f"math: is {math!r}, and goes with refine alone; leave it as it is, or pass refine=True")
    if _system_batch.is_batch(a, b):
        if _device.has_batch(a, stream):
            options = dict(assume=assume, lower=lower, refine=refine, math=math, backend=backend, threads=threads)
            each = functools.partial(_device.one_by_one, solve, (a, b), stream=stream, **options)
            if refine:
                return each()
            options = dict(lower=lower, backend=backend, threads=threads, stream=stream)
            return _device.batch("solve" if assume == "general" else assume, a, b, each, **options)
        if refine:
            return _system_batch.one_by_one("refined", (a, b), lower, False, backend, threads, math)
        return _system_batch.solve("solve" if assume == "general" else assume, a, b, lower, backend, threads)
    x = _core._solve("refined" if refine else assume, a, b, lower, False, backend, threads, stream, math)
    return _device.in_library_of(a, x, _device.is_vector(b))


def triangular_solve(t, b, *, lower=True, unit_diagonal=False, backend="auto", threads=None, stream=None) -> Any:
    """Returns x of t·x = b, where t is the lower or the upper triangle of an n×n matrix; the other one is not read.

    unit_diagonal: the diagonal is ones, and is not read either. The rest is as in solve(). A zero on the diagonal gives
    inf or nan.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.triangular_solve(np.array([[2.0, 9.0], [1.0, 4.0]]), np.array([2.0, 9.0]))
    array([1., 2.])
    """
    if _system_batch.is_batch(t, b):
        if _device.has_batch(t, stream):
            options = dict(lower=lower, unit_diagonal=unit_diagonal, backend=backend, threads=threads, stream=stream)
            return _device.one_by_one(triangular_solve, (t, b), **options)
        return _system_batch.one_by_one("triangular", (t, b), lower, unit_diagonal, backend, threads)
    x = _core._solve("triangular", t, b, lower, unit_diagonal, backend, threads, stream)
    return _device.in_library_of(t, x, _device.is_vector(b))


def inverse(a, *, backend="auto", threads=None, stream=None) -> Any:
    """Returns the inverse of a as a new numpy.ndarray: solve(a, identity). Where a solution is enough, solve() is
    faster and more accurate.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.inverse(np.array([[0.0, 2.0], [4.0, 0.0]]))
    array([[0.  , 0.25],
           [0.5 , 0.  ]])
    """
    if _system_batch.is_batch(a):
        if _device.has_batch(a, stream):
            options = dict(backend=backend, threads=threads, stream=stream)
            each = functools.partial(_device.one_by_one, inverse, (a,), **options)
            return _device.batch("inverse", a, None, each, **options)
        return _system_batch.inverse(a, backend, threads)
    return _device.in_library_of(a, _core._solve("inverse", a, None, True, False, backend, threads, stream))


def condition(a, *, assume="general", lower=True, backend="auto", threads=None) -> Any:
    """Returns an estimate of a's condition number in the 1-norm, by its factors: no more than it but for rounding, and
    rarely less than a third. inf where a is singular. The other arguments are as in solve(). Of a batch, an array.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.condition(np.diag([1.0, 4.0, 0.5]))
    8.0
    """
    if assume not in ("general", "positive"):
        raise InvalidArgument(f"assume: unknown word {assume!r}; use 'general' or 'positive'")
    task = "condition" if assume == "general" else "condition of positive"
    if _system_batch.is_batch(a):
        return _system_batch.one_by_one(task, (a,), lower, False, backend, threads)
    return _core._solve(task, a, None, lower, False, backend, threads)


def cholesky(a, *, lower=True, backend="auto", threads=None, stream=None) -> Any:
    """Returns the lower triangular L with a = L·Lᵀ, or L·Lᴴ where a is complex, as a new numpy.ndarray, for a symmetric or
    Hermitian positive definite a, of which one triangle is read.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    if _system_batch.is_batch(a):
        if _device.has_batch(a, stream):
            options = dict(lower=lower, backend=backend, threads=threads, stream=stream)
            each = functools.partial(_device.one_by_one, cholesky, (a,), **options)
            return _device.batch("cholesky", a, None, each, **options)
        return _system_batch.cholesky(a, lower, backend, threads)
    return _device.in_library_of(a, _core._solve("cholesky", a, None, lower, False, backend, threads, stream))


def lu(a, *, backend="auto", threads=None, stream=None) -> tuple[Any, Any]:
    """Returns the factors of P·a = L·U in one m×n array, L below the diagonal (its own diagonal is ones), and the
    pivots: row j changed places with row pivots[j], in ascending j. A singular matrix has a 0 on U's diagonal. The
    magnitude of a complex number is |re| + |im| where a pivot is chosen. Of a batch, the pivots are an array of int64,
    a row of min(m, n) for each matrix. Pivots are in host memory, wherever a is.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.lu(np.array([[1.0, 2.0], [4.0, 4.0]]))
    (array([[4.  , 4.  ],
           [0.25, 1.  ]]), [1, 1])
    """
    if _system_batch.is_batch(a):
        if _device.has_batch(a, stream):
            options = dict(backend=backend, threads=threads, stream=stream)
            each = functools.partial(_device.one_by_one, lu, (a,), **options)
            return _device.batch("lu", a, None, each, **options)
        return _system_batch.lu(a, backend, threads)
    return _device.in_library_of(a, _core._solve("lu", a, None, True, False, backend, threads, stream))


def qr(a, *, mode="reduced", backend="auto", threads=None, stream=None) -> Any:
    """Returns the factors of a = q·r as new arrays, for an m×n array of any shape: q, m×min(m, n), has orthonormal
    columns, and r, min(m, n)×n, is upper triangular, with a real diagonal where a is complex. Signs are LAPACK's, by
    Householder's reflections.

    mode: 'reduced' returns (q, r), and 'r' returns r alone, which takes less than half the time.

    >>> import numpy as np
    >>> import tessera as ts
    >>> q, r = ts.qr(np.array([[3.0, 5.0], [4.0, 10.0]]))
    >>> r
    array([[ -5., -11.],
           [  0.,   2.]])
    """
    if mode not in ("reduced", "r"):
        raise InvalidArgument(f"mode: unknown word {mode!r}; use 'reduced' or 'r'")
    task = "qr" if mode == "reduced" else "r"
    if _system_batch.is_batch(a):
        if _device.has_batch(a, stream):
            options = dict(mode=mode, backend=backend, threads=threads, stream=stream)
            return _device.one_by_one(qr, (a,), **options)
        return _system_batch.one_by_one(task, (a,), True, False, backend, threads)
    return _device.in_library_of(a, _core._solve(task, a, None, True, False, backend, threads, stream))


def least_squares(a, b, *, backend="auto", threads=None, stream=None) -> Any:
    """Returns the x for which each column of a·x - b has the least norm, for an m×n array of full rank. Where m < n,
    a·x = b has many solutions, and the one whose columns have the least norm is returned.

    b: m×k, or a vector of m. The rest is as in solve(). Columns that depend on each other exactly, such as one of
    zeros, are an InvalidArgument that names the first of them; scipy.linalg.lstsq finds the rank of such arrays.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.least_squares(np.array([[3.0], [4.0]]), np.array([5.0, 10.0]))
    array([2.2])
    """
    if _system_batch.is_batch(a, b):
        if _device.has_batch(a, stream):
            options = dict(backend=backend, threads=threads, stream=stream)
            return _device.one_by_one(least_squares, (a, b), **options)
        return _system_batch.one_by_one("least squares", (a, b), True, False, backend, threads)
    x = _core._solve("least squares", a, b, True, False, backend, threads, stream)
    return _device.in_library_of(a, x, _device.is_vector(b))
