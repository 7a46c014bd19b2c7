"""tessera.dask.matmul: the bits of tessera.gemm with all chunks, where dask's own product has others."""

import subprocess
import sys

import numpy as np
import pytest

import tessera as ts

da = pytest.importorskip("dask.array", reason="no dask: pip install dask")
td = pytest.importorskip("tessera.dask")

k = 5000
chunks = [((40, 30), (1500, 1500, 2000)), ((70,), (k,)), ((1,) * 70, (1000,) * 5), ((33, 37), (1024, 3976))]


def random(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def bits(x):
    return np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, -1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16"])
def test_chunks_change_no_bit(dtype):
    rng = np.random.default_rng(1)
    a, b = random(rng, (70, k), dtype), random(rng, (k, 50), dtype)
    expected = ts.gemm(a, b)
    for of_rows, of_k in chunks:
        lazy = td.matmul(da.from_array(a, chunks=(of_rows, of_k)), da.from_array(b, chunks=(of_k[::-1], (20, 30))), threads=1)
        assert lazy.dtype == dtype and lazy.shape == (70, 50)
        assert (bits(lazy.compute()) == bits(expected)).all(), (dtype, of_rows, of_k)


def test_other_products_of_dask_differ():
    """dask's own product has other bits for other chunks; most of its elements change."""
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((70, k)).astype(np.float32), rng.standard_normal((k, 50)).astype(np.float32)
    whole = (da.from_array(a, chunks=(70, k)) @ da.from_array(b, chunks=(k, 50))).compute()
    cut = (da.from_array(a, chunks=(70, 1000)) @ da.from_array(b, chunks=(1000, 50))).compute()
    assert (whole != cut).mean() > 0.5


def test_empty_and_narrow_products():
    a, b = da.zeros((3, 0)), da.zeros((0, 4))
    assert (td.matmul(a, b).compute() == np.zeros((3, 4))).all()
    assert td.matmul(da.zeros((0, 5)), da.zeros((5, 4))).compute().shape == (0, 4)
    x = np.arange(6.0).reshape(2, 3)
    assert (td.matmul(x, x.T).compute() == x @ x.T).all()
    assert ((td.matmul(x, x.T) + 1).sum().compute()) == (x @ x.T + 1).sum()


def test_results_of_tasks_are_not_written():
    """A task's sums may be kept, computed anew or sent elsewhere: the next task must leave them alone."""
    a, b = np.ones((2, 20000)), np.ones((20000, 2))
    lazy = td.matmul(da.from_array(a, chunks=(2, 20000)), da.from_array(b, chunks=(20000, 2)))
    assert (lazy.compute(scheduler="synchronous") == 20000).all()
    kept = lazy.persist()
    assert (kept.compute() == kept.compute()).all()
    sums = np.zeros((2, 2))
    td._add_panel(sums, a, b, 1024, {})
    assert (sums == 0).all()


@pytest.mark.parametrize(
    ("a", "b", "kind", "text"),
    [
        (da.zeros((2, 3)), da.zeros((2, 3)), ts.InvalidArgument, "columns of a"),
        (da.zeros((2, 3)), da.zeros((3, 3), dtype="f4"), TypeError, "float32"),
        (da.zeros((2, 3), dtype="i4"), da.zeros((3, 3), dtype="i4"), TypeError, "int32"),
        (da.zeros(3), da.zeros((3, 3)), ts.InvalidArgument, "dimensions"),
    ],
)
def test_errors(a, b, kind, text):
    with pytest.raises(kind, match=text):
        td.matmul(a, b)


def test_the_error_without_dask_says_what_to_install():
    script = "import sys; sys.modules['dask'] = None; import tessera.dask as td; td.matmul([[1.0]], [[1.0]])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode != 0
    assert "pip install dask" in ran.stderr
