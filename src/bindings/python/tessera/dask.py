"""Products of dask arrays whose bits do not depend on the chunks.

>>> import dask.array as da
>>> import numpy as np
>>> import tessera.dask as td
>>> a = da.random.default_rng(1).random((300, 5000), chunks=(100, 1500))
>>> b = da.random.default_rng(2).random((5000, 200), chunks=(700, 100))
>>> c = td.matmul(a, b)                          # lazy, as everything of dask
>>> bool((c.compute() == td.matmul(a.rechunk(5000), b).compute()).all())
True

dask's own product adds the products of chunks along k as a tree, and each by NumPy's BLAS: another chunking gives other
bits in most elements. Here each chunk of the result is one chain of tasks along k, in ascending order, which adds
segment after segment as tessera.gemm does (docs/distributed.md).
"""

import numpy as np

from . import _core
from ._errors import InvalidArgument
from ._types import OF_MATRICES

__all__ = ["matmul"]

#: k of a segment of the contract; a complex number is two real k.
_SEGMENT = 1024
#: The types whose products dask may hold; sums of float16 are float32 until the end.
_TYPES = tuple(one.name for one in OF_MATRICES if one.buffer)
#: The most k of a task. Longer tasks keep more of A and B in memory at a time.
_MOST_K = 8 * _SEGMENT


def _dask():
    """dask.array and its graphs, with what to do where they are missing."""
    try:
        import dask.array as da
        from dask.base import tokenize
        from dask.highlevelgraph import HighLevelGraph
    except ImportError as error:
        raise ImportError("tessera.dask needs dask: pip install dask; if it is installed, it says: " + str(error)) from error
    return da, tokenize, HighLevelGraph


def _add_panel(sums, a, b, segment, options):
    """sums + a·b, segment after segment; sums is None before the first one, and is never written."""
    _core.expect_plain(a, "a")
    _core.expect_plain(b, "b")
    a, b = np.asarray(a), np.asarray(b)
    result = {"out": np.empty((a.shape[0], b.shape[1]), np.float32)} if a.dtype == np.float16 else {}
    if sums is None and a.shape[1] == 0:
        return _core.gemm(a, b, **result, **options)
    for first in range(0, a.shape[1], segment):
        part = slice(first, first + segment)
        if sums is None:
            sums = _core.gemm(a[:, part], b[part], **result, **options)
        elif first == 0:
            sums = _core.gemm(a[:, part], b[part], c=sums, beta=1, **options)
        else:
            sums = _core.gemm(a[:, part], b[part], out=sums, beta=1, **options)
    return sums


def _rounded(sums):
    return sums.astype(np.float16)


def _panels(k, segment, chunks):
    """Chunks of k that begin with a segment: as long as the caller's, at most _MOST_K."""
    longest = max((*chunks, 1))
    panel = min(max(longest // segment, 1) * segment, _MOST_K)
    return tuple(min(panel, k - first) for first in range(0, k, panel)) or (0,)


def matmul(a, b, *, backend="auto", threads=None):
    """a·b as a lazy dask array with the chunks of a's rows and b's columns.

    a, b: dask arrays (or arrays that dask takes) of two dimensions and one dtype: float32, float64, complex64,
        complex128 or float16. Chunks along k are changed to whole segments, which changes no bit of the result.
    backend, threads: as for tessera.gemm; threads=1 suits dask's own threads.
    """
    da, tokenize, graph_of = _dask()
    a, b = da.asarray(a), da.asarray(b)
    _core.expect_plain(a._meta, "a")
    _core.expect_plain(b._meta, "b")
    if a.ndim != 2 or b.ndim != 2:
        raise InvalidArgument(f"a has {a.ndim} dimensions and b has {b.ndim}; a matrix has two")
    if a.dtype != b.dtype:
        raise TypeError(f"a holds {a.dtype}, b holds {b.dtype}; convert one of them, for nothing is converted unasked")
    if a.dtype.name not in _TYPES:
        raise TypeError(f"a and b hold {a.dtype}; products are of {', '.join(_TYPES)}")
    if a.shape[1] != b.shape[0]:
        raise InvalidArgument(f"a is {a.shape} and b is {b.shape}; the columns of a must be as many as the rows of b")
    if np.isnan(sum(a.shape) + sum(b.shape)):
        raise InvalidArgument("a or b has chunks of unknown sizes; call compute_chunk_sizes() first")
    segment = _SEGMENT // 2 if a.dtype.kind == "c" else _SEGMENT
    panels = _panels(a.shape[1], segment, a.chunks[1])
    a, b = a.rechunk({1: panels}), b.rechunk({0: panels})
    name = "tessera-matmul-" + tokenize(a, b, backend, threads)
    options = {"backend": backend, "threads": threads}
    tasks = {}
    for i in range(len(a.chunks[0])):
        for j in range(len(b.chunks[1])):
            sums = None
            for p in range(len(panels)):
                last = p + 1 == len(panels) and a.dtype != np.float16
                key = (name, i, j) if last else (name + "-sums", i, j, p)
                tasks[key] = (_add_panel, sums, (a.name, i, p), (b.name, p, j), segment, options)
                sums = key
            if a.dtype == np.float16:
                tasks[(name, i, j)] = (_rounded, sums)
    graph = graph_of.from_collections(name, tasks, dependencies=[a, b])
    return da.Array(graph, name, chunks=(a.chunks[0], b.chunks[1]), dtype=a.dtype, meta=np.empty((0, 0), a.dtype))
