"""Batches of linear systems: each system has the bits that it has alone, shapes are numpy.linalg's, and what is
refused."""

import ctypes

import numpy as np
import pytest

import tessera as ts

rng = np.random.default_rng(3)
hosts = [backend.name for backend in ts.backends() if backend.available and backend.name != "cuda"]
types = ["float32", "float64", "complex64", "complex128"]


def numbers(shape, dtype):
    real = rng.uniform(-1, 1, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def positive(shape, dtype):
    a = numbers(shape, dtype)
    return a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1], dtype=dtype)


def each(function, *arrays):
    """Calls the function for the matrices of each index, and stacks what it returns."""
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    whole = [np.broadcast_to(x, batch + x.shape[-2:]) for x in arrays]
    members = [function(*(x[i] for x in whole)) for i in np.ndindex(*batch)]
    return np.stack(members).reshape(batch + members[0].shape)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize(
    ("batch_a", "batch_b"),
    [((5,), (5,)), ((2, 3), (3,)), ((1, 4), (3, 1)), ((), (17,)), ((6,), ()), ((3, 1, 2), (1, 2, 1))],
)
@pytest.mark.parametrize("n", [1, 4, 40])
def test_solutions_have_the_bits_of_single_systems(n, batch_a, batch_b, dtype):
    a, b = numbers((*batch_a, n, n), dtype), numbers((*batch_b, n, 2), dtype)
    before = a.copy(), b.copy()
    x = ts.solve(a, b)
    assert x.dtype == dtype and x.shape == np.linalg.solve(a, b).shape
    assert np.array_equal(x, each(ts.solve, a, b))
    for backend in hosts:
        assert np.array_equal(ts.solve(a, b, backend=backend, threads=2), x)
    gram = positive(a.shape, dtype)
    for lower in (True, False):
        half = (np.tril if lower else np.triu)(gram)
        alone = each(lambda p, q, lower=lower: ts.solve(p, q, assume="positive", lower=lower), half, b)
        assert np.array_equal(ts.solve(half, b, assume="positive", lower=lower), alone)
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("batch", [(7,), (2, 3), (0,), (2, 0, 3)])
def test_factors_and_inverses(batch, dtype):
    a = numbers((*batch, 6, 6), dtype)
    gram, empty = positive(a.shape, dtype), 0 in batch
    tall = numbers((*batch, 7, 4), dtype)
    shape = np.linalg.inv(a).shape
    low, upper, inverse = ts.cholesky(gram), ts.cholesky(np.triu(gram), lower=False), ts.inverse(a)
    packed, pivots = ts.lu(tall)
    assert low.shape == upper.shape == inverse.shape == shape
    assert packed.shape == tall.shape and pivots.shape == (*batch, 4) and pivots.dtype == np.int64
    q, r = ts.qr(tall)
    assert q.shape == (*batch, 7, 4) and r.shape == (*batch, 4, 4) and ts.qr(tall, mode="r").shape == r.shape
    fit = ts.least_squares(tall, tall[..., :1] * 2)
    assert fit.shape == (*batch, 4, 1) and ts.condition(a).shape == batch
    right = numbers((*batch, 6, 2), dtype)
    assert ts.triangular_solve(low, right).shape == right.shape
    if empty:
        return
    assert np.array_equal(low, each(ts.cholesky, gram)) and np.array_equal(inverse, each(ts.inverse, a))
    assert np.array_equal(upper, each(lambda x: ts.cholesky(x, lower=False), np.triu(gram)))
    assert np.array_equal(packed, each(lambda x: ts.lu(x)[0], tall))
    assert np.array_equal(pivots, each(lambda x: np.array(ts.lu(x)[1]), tall))
    assert np.array_equal(q, each(lambda x: ts.qr(x)[0], tall)) and np.array_equal(r, each(lambda x: ts.qr(x)[1], tall))
    assert np.array_equal(fit, each(ts.least_squares, tall, tall[..., :1] * 2))
    assert np.array_equal(ts.condition(a), each(lambda x: np.float64(ts.condition(x)), a))
    assert np.array_equal(ts.triangular_solve(low, right), each(ts.triangular_solve, low, right))


def test_a_vector_is_a_right_hand_side_of_all_systems_where_it_has_one_dimension():
    a = numbers((3, 4, 4), "float64")
    vector, matrix = numbers((4,), "float64"), numbers((4, 3), "float64")
    x = ts.solve(a, vector)
    assert x.shape == (3, 4) and np.array_equal(x, np.stack([ts.solve(one, vector) for one in a]))
    assert x.shape == np.linalg.solve(a, vector).shape
    assert ts.solve(a, matrix).shape == (3, 4, 3)  # a matrix, also where it might be a batch of vectors
    with pytest.raises(ts.InvalidArgument, match="b has 3 rows; it must have 4"):
        ts.solve(a, numbers((3, 4), "float64"))
    assert ts.least_squares(a, vector).shape == (3, 4) and ts.triangular_solve(a, vector).shape == (3, 4)
    assert ts.solve(numbers((2, 0, 0), "float32"), numbers((2, 0, 3), "float32")).shape == (2, 0, 3)


def test_layouts_have_equal_bits():
    a, b = numbers((6, 5, 5), "float64"), numbers((6, 5, 2), "float64")
    x = ts.solve(a, b)
    wide = np.full((12, 9, 11), np.nan)
    wide[1::2, 2:7, 3:8] = a
    columns = np.ascontiguousarray(np.swapaxes(a, 1, 2)).swapaxes(1, 2)
    last = np.ascontiguousarray(np.moveaxis(a, 0, -1))
    upwards, backwards = a[::-1].copy()[::-1], a[:, ::-1].copy()[:, ::-1]
    for other in (wide[1::2, 2:7, 3:8], columns, np.moveaxis(last, -1, 0), upwards, backwards):
        before = other.copy()
        assert np.array_equal(ts.solve(other, np.asfortranarray(b)), x)
        assert np.array_equal(ts.lu(other)[0], ts.lu(a)[0]) and np.array_equal(ts.inverse(other), ts.inverse(a))
        assert np.array_equal(other, before)
    twice = np.broadcast_to(a[:, None], (6, 2, 5, 5))  # each matrix is there twice in one memory
    assert np.array_equal(ts.solve(twice, b[:, None]), np.stack([x, x], 1))


def test_arrays_of_pytorch():
    torch = pytest.importorskip("torch")
    a, b = numbers((4, 5, 5), "float32"), numbers((4, 5, 1), "float32")
    assert np.array_equal(ts.solve(torch.from_numpy(a), torch.from_numpy(b)), ts.solve(a, b))


def test_buffers_without_a_library():
    a, b = numbers((3, 2, 2), "float64"), numbers((2,), "float64")
    exported = (ctypes.c_double * 2 * 2 * 3).from_buffer_copy(a)
    assert np.array_equal(ts.solve(exported, memoryview(b)), ts.solve(a, b))


def test_what_is_refused():
    a, b = numbers((2, 3, 4, 4), "float64"), numbers((4, 2), "float64")
    a[1, 2] = 0
    with pytest.raises(ValueError, match=r"solve: the matrix a\[1, 2\] is singular: pivot 0 of its factorisation"):
        ts.solve(a, b)
    a[0, 1] = 0
    with pytest.raises(ts.InvalidArgument, match=r"inverse: the matrix a\[0, 1\] is singular.*so it is with 1 others"):
        ts.inverse(a)
    assert ts.lu(a)[1].shape == (2, 3, 4)
    with pytest.raises(ts.InvalidArgument, match=r"cholesky: the matrix a\[0, 0\] is not positive definite"):
        ts.cholesky(-np.eye(4) + np.zeros((2, 3, 1, 1)))
    with pytest.raises(ts.InvalidArgument, match=r"solve: the matrix a\[1\] is not positive .* order 2"):
        ts.solve(np.stack([np.eye(2), np.diag([1.0, -1.0])]), np.ones(2), assume="positive")
    with pytest.raises(ts.InvalidArgument, match=r"system \[1\]: .*element 1 of R's diagonal"):
        ts.least_squares(np.stack([np.eye(3)[:, :2], np.eye(3)[:, [0, 2]] * [1, 0]]), np.ones(3))
    with pytest.raises(ts.InvalidArgument, match="solve: the matrices of a are 4×3, and must be square"):
        ts.solve(a[..., :3], b)
    with pytest.raises(ts.InvalidArgument, match=r"a has a batch of shape \(2, 3\) and b one of \(2,\), which do not"):
        ts.solve(a, numbers((2, 4, 1), "float64"))
    with pytest.raises(TypeError, match="a holds float64 and b holds float32; both must have one type"):
        ts.solve(a, b.astype("float32"))
    with pytest.raises(TypeError, match="a holds float16; linear systems are solved in float32, float64, complex64"):
        ts.solve(a.astype("float16"), b)
    with pytest.raises(TypeError, match="a holds >f8"):
        ts.solve(a.astype(">f8"), b)
    with pytest.raises(TypeError, match="b must be an array .* not list"):
        ts.solve(a, [1.0, 2.0])
    with pytest.raises(TypeError):
        ts.solve(np.ma.masked_array(a), b)
    with pytest.raises(ts.InvalidArgument, match="unknown backend"):
        ts.solve(a, b, backend="nonsense")
    with pytest.raises(ts.InvalidArgument, match="a has 1 dimensions, but the matrix of a linear system has 2"):
        ts.solve(np.ones(3), np.ones(3))
    with pytest.raises(ts.InvalidArgument, match="a has 1 dimensions, but the matrices of linear systems have 2"):
        ts.solve(np.ones(3), np.ones((2, 3, 1)))
    for matrix in (np.eye(3), np.zeros((2, 3, 3))):
        with pytest.raises(ts.InvalidArgument, match="b has 0 dimensions, but right-hand sides are a vector"):
            ts.solve(matrix, np.array(1.0))


def test_refined_solutions_of_a_batch():
    a, b = numbers((3, 50, 50), "float64"), numbers((50,), "float64")
    x = ts.solve(a, b, refine=True)
    assert np.array_equal(x, np.stack([ts.solve(one, b, refine=True) for one in a]))
