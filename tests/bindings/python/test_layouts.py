"""Every layout that gemm can take is read and written where it is."""

import array

import numpy as np
import pytest

import tessera as ts
from conftest import integers, present

m, n, k = 17, 23, 31


def block(x):
    """Returns the elements as a block of a larger matrix."""
    large = np.full((x.shape[0] + 5, x.shape[1] + 7), np.nan, x.dtype)
    inside = large[2:-3, 3:-4]
    inside[...] = x
    return inside


views = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "row-strided": lambda x: block(x),
    "column-strided": lambda x: block(np.ascontiguousarray(x.T)).T,
    "transposed view": lambda x: np.ascontiguousarray(x.T).T,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every third column of Fortran order": lambda x: np.asfortranarray(np.repeat(x, 3, axis=1))[:, ::3],
    "memoryview": lambda x: memoryview(np.ascontiguousarray(x)),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of_b", views)
@pytest.mark.parametrize("of_a", views)
def test_operands_are_read_where_they_are(of_a, of_b, dtype, no_copy):
    a, b = integers(m, k, dtype, 1), integers(k, n, dtype, 2)
    c = ts.gemm(views[of_a](a), views[of_b](b))
    assert c.dtype == dtype and c.flags.c_contiguous and c.flags.owndata
    assert np.array_equal(c, a @ b)


writable = [name for name in views if name not in ("memoryview", "read-only")]


@pytest.mark.parametrize("of_out", writable)
@pytest.mark.parametrize("of_a", writable)
@pytest.mark.parametrize("beta", [0, 1, -2.5])
def test_out_is_written_where_it_is(of_a, of_out, beta, no_copy):
    a, b = integers(m, k, seed=1), integers(k, n, seed=2)
    start = integers(m, n, seed=3)
    out = views[of_out](start.copy())
    address = out.__array_interface__["data"]
    base = out.base.copy() if of_out == "row-strided" else None
    assert ts.gemm(views[of_a](a), b, out=out, alpha=2, beta=beta) is out
    assert out.__array_interface__["data"] == address
    assert np.array_equal(out, 2 * (a @ b) + np.float32(beta) * start)
    if base is not None:  # the elements around the block
        base[2:-3, 3:-4] = out
        assert np.array_equal(out.base, base, equal_nan=True)


def test_layouts_do_not_change_the_bits():
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((61, 1500)).astype(np.float32), rng.standard_normal((1500, 47)).astype(np.float32)
    expected = ts.gemm(a, b, backend="reference").tobytes()
    for backend in present():
        for of_a in views.values():
            assert ts.gemm(of_a(a), b, backend=backend).tobytes() == expected
        out = np.empty((61, 47), np.float32, order="F")
        assert ts.gemm(a, np.asfortranarray(b), out=out, backend=backend).tobytes("C") == expected


@pytest.mark.parametrize("shape", [(1, 9, 5), (9, 1, 5), (9, 5, 1), (1, 1, 1), (1, 1, 7)])
def test_vectors_with_steps_need_no_copy(shape, no_copy):
    rows, cols, inner = shape
    a, b = integers(rows, inner), integers(inner, cols)
    if rows == 1:
        a = np.repeat(a, 2, axis=1)[:, ::2]
    if cols == 1:
        b = np.repeat(b, 3, axis=0)[::3]
    assert np.array_equal(ts.gemm(a, b), a @ b)


copied = {
    "steps in both directions": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "backwards rows": lambda x: x[::-1].copy()[::-1],
    "field of a structure": lambda x: as_field(x),
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
}


def as_field(x):
    records = np.zeros(x.shape, dtype=[("flag", "i1"), ("value", x.dtype)])
    records["value"] = x
    return records["value"]


@pytest.mark.parametrize("view", copied)
def test_other_strides_are_copied_once(view):
    a, b = integers(m, k), integers(k, n)
    before = ts._core.copies_made()
    c = ts.gemm(copied[view](a), b)
    assert ts._core.copies_made() == before + 1
    assert np.array_equal(c, a @ b)


def test_broadcast_operands_are_copied():
    ones = np.broadcast_to(np.float64(2), (5, 6))
    assert np.array_equal(ts.gemm(ones, ones.T), ones @ ones.T)


@pytest.mark.parametrize("view", ["steps in both directions", "backwards", "field of a structure"])
def test_such_out_is_an_error_and_untouched(view):
    out = copied[view](integers(m, n))
    before = out.copy()
    with pytest.raises(ValueError, match=r"out has strides of \(.*rows or its columns must be contiguous"):
        ts.gemm(integers(m, k), integers(k, n), out=out)
    assert np.array_equal(out, before)


def test_c_is_read_and_never_written():
    a, b = integers(m, k), integers(k, n)
    for view in (*views.values(), *copied.values()):
        c = view(integers(m, n, seed=5))
        before = np.array(c)
        result = ts.gemm(a, b, c=c, beta=3)
        assert np.array_equal(result, a @ b + 3 * before)
        assert np.array_equal(np.array(c), before)


def test_beta_zero_does_not_read():
    a, b = integers(m, k), integers(k, n)
    nan = np.full((m, n), np.nan, np.float32)
    assert np.array_equal(ts.gemm(a, b, c=nan), a @ b)
    assert np.array_equal(ts.gemm(a, b, out=nan), a @ b)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_empty(shape):
    rows, cols, inner = shape
    c = ts.gemm(np.ones((rows, inner)), np.ones((inner, cols)))
    assert c.shape == (rows, cols) and not c.any()


def test_buffers_that_are_not_numpy():
    rows = memoryview(array.array("d", [1, 2, 3, 4])).cast("B").cast("d", (2, 2))
    assert ts.gemm(rows, rows).tolist() == [[7, 10], [15, 22]]


def test_blocks_of_one_matrix_side_by_side():
    whole = np.zeros((8, 12), np.float32)
    whole[:, :4] = a = integers(8, 4)
    whole[:4, 4:8] = b = integers(4, 4)
    ts.gemm(whole[:, :4], whole[:4, 4:8], out=whole[:, 8:])
    assert np.array_equal(whole[:, 8:], a @ b)
