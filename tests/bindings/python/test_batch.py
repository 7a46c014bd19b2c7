"""Batches: arrays of three dimensions, lists of different matrices, one matrix for all products."""

import numpy as np
import pytest

import tessera as ts
from conftest import integers, present


def stack(count, rows, cols, dtype=np.float32, seed=0):
    return np.stack([integers(rows, cols, dtype, seed + i) for i in range(count)])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("backend", present())
def test_three_dimensions(backend, dtype, no_copy):
    a, b = stack(9, 5, 7, dtype), stack(9, 7, 4, dtype, 50)
    c = ts.gemm_batch(a, b, backend=backend, alpha=2)
    assert c.shape == (9, 5, 4) and c.dtype == dtype and c.flags.c_contiguous
    for i in range(9):
        assert np.array_equal(c[i], ts.gemm(a[i], b[i], alpha=2, backend=backend))


layouts = {
    "C order": lambda x: x,
    "transposed matrices": lambda x: np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2),
    "batch in the middle": lambda x: np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1),
    "every other matrix": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "blocks of larger ones": lambda x: np.pad(x, ((0, 0), (1, 2), (3, 1)))[:, 1:-2, 3:-1],
}


@pytest.mark.parametrize("of_out", layouts)
@pytest.mark.parametrize("of_a", layouts)
def test_read_and_written_where_they_are(of_a, of_out, no_copy):
    a, b, start = stack(6, 5, 7), stack(6, 7, 4, seed=50), stack(6, 5, 4, seed=90)
    out = layouts[of_out](start.copy())
    assert ts.gemm_batch(layouts[of_a](a), b, out=out, beta=-1) is out
    assert np.array_equal(out, a @ b - start)


def test_a_matrix_for_all_products(no_copy):
    a, b = integers(5, 7), stack(6, 7, 4)
    assert np.array_equal(ts.gemm_batch(a, b), a @ b)
    assert np.array_equal(ts.gemm_batch(b, integers(4, 3)), b @ integers(4, 3))
    assert np.array_equal(ts.gemm_batch(np.broadcast_to(a, (6, 5, 7)), b), a @ b)


def test_lists_of_unlike_matrices(no_copy):
    shapes = [(3, 4, 5), (3, 4, 5), (1, 1, 1), (20, 2, 30), (0, 3, 2), (2, 0, 3)]
    a = [integers(m, k, seed=m) for m, k, n in shapes]
    b = [np.asfortranarray(integers(k, n, seed=n)) for m, k, n in shapes]
    c = ts.gemm_batch(a, b)
    assert isinstance(c, list) and all(np.array_equal(z, x @ y) for x, y, z in zip(a, b, c))
    out = [np.asfortranarray(np.full_like(z, np.nan)) for z in c]
    assert ts.gemm_batch(tuple(a), b, out=out) is out
    assert all(np.array_equal(x, y) for x, y in zip(out, c))


def test_strides_that_have_to_be_copied():
    a, b = stack(4, 6, 8), stack(4, 4, 3)
    assert np.array_equal(ts.gemm_batch(a[:, :, ::2], b), a[:, :, ::2] @ b)


def test_no_products():
    assert ts.gemm_batch([], []) == []
    for dtype in (np.float16, np.float64):
        a, b = np.zeros((0, 2, 3), dtype), np.zeros((0, 3, 4), dtype)
        for result in (ts.gemm_batch(a, b), ts.gemm_batch(a[:, :, ::-1], b), ts.gemm_batch(a, np.zeros((3, 4), dtype))):
            assert result.shape == (0, 2, 4) and result.dtype == dtype
    out = np.zeros((0, 2, 4))
    assert ts.gemm_batch(a, b, out=out, beta=1) is out
    for error, wrong in [(ValueError, (b, b)), (TypeError, (a, b.astype(np.float32))), (TypeError, (a.astype(int), b))]:
        with pytest.raises(error, match="a"):
            ts.gemm_batch(*wrong)
    with pytest.raises(ValueError, match="out is 2×3"):
        ts.gemm_batch(a, b, out=a)


@pytest.mark.parametrize(
    "error, arguments, parts",
    [
        (ValueError, lambda a, b: (a, b[:2]), ["3 matrices", "2"]),
        (ValueError, lambda a, b: (a, a), ["product 0", "5×7", "7 ≠ 5"]),
        (ValueError, lambda a, b: (a[None], b), ["a has 4 dimensions"]),
        (TypeError, lambda a, b: (a, b.astype(np.float64)), ["float32", "float64"]),
        (TypeError, lambda a, b: ("abc", b), ["a must be", "str"]),
        (TypeError, lambda a, b: (3, b), ["a must be", "int"]),
        (TypeError, lambda a, b: ([1, 2, 3], b), ["a", "int"]),
    ],
)
def test_refused(error, arguments, parts):
    with pytest.raises(error) as raised:
        ts.gemm_batch(*arguments(stack(3, 5, 7), stack(3, 7, 4)))
    for part in parts:
        assert part in str(raised.value)


def test_out_is_refused_and_unchanged():
    a, b = stack(3, 5, 5), stack(3, 5, 5, seed=9)
    before = a.copy()
    for out, part in [
        (a, "overlaps a"),
        (np.zeros((2, 5, 5), np.float32), "2 matrices"),
        (np.zeros((3, 5, 4), np.float32), "5×4"),
        (np.zeros((3, 5, 10), np.float32)[:, :, ::2], "strides"),
        (np.broadcast_to(np.zeros((5, 5), np.float32), (3, 5, 5)), "read-only"),
    ]:
        with pytest.raises(ValueError, match=part):
            ts.gemm_batch(a, b, out=out)
    with pytest.raises(ValueError, match="beta"):
        ts.gemm_batch(a, b, beta=1)
    assert np.array_equal(a, before)


def test_results_of_unlike_types():
    a, b = np.ones((2, 4, 4), np.float16), np.eye(4, dtype=np.float16)
    for types in ((np.float32, np.float16), (np.float16, np.float32)):
        out = [np.zeros((4, 4), dtype) for dtype in types]
        ts.gemm_batch(a, b, out=out)
        assert all((c == 1).all() for c in out)


def test_items_that_are_copies():
    class Lazy:
        """An object of three dimensions that makes each item when it is asked for."""

        ndim, shape = 3, (5, 2, 3)

        def __len__(self):
            return 5

        def __getitem__(self, i):
            if i >= 5:
                raise IndexError
            return np.full((2, 3), i + 1, np.float32)

    got = ts.gemm_batch(Lazy(), np.eye(3, dtype=np.float32))
    assert [c[0, 0] for c in got] == [1, 2, 3, 4, 5]
