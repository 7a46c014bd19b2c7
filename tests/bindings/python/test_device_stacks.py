"""Batches of linear systems of arrays on a CUDA device, tested without a device: test_device.py says how. The bits,
the shapes and what is refused are the host's."""

import numpy as np
import pytest

import tessera as ts
from conftest import Exporter

rng = np.random.default_rng(11)
types = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(autouse=True)
def stand_in():
    info = next(x for x in ts.backends() if x.name == "cuda")
    if info.device != "small device":
        pytest.skip("the CUDA plug-in is not the stand-in: see CMakeLists.txt")


def numbers(*shape, dtype=np.float64):
    parts = rng.uniform(-1, 1, (2, *shape))
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


def there(array):
    return Exporter(array, device=(2, 0), code=5 if np.iscomplexobj(array) else 2)


def same(result, expected):
    assert isinstance(result, ts.DeviceArray) and result.dtype == expected.dtype
    assert result.shape == expected.shape and result.ndim == expected.ndim
    got = result.numpy()
    assert got.shape == expected.shape and got.tobytes() == np.ascontiguousarray(expected).tobytes()


def positive(a):
    n = a.shape[-1]
    gram = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(n, dtype=a.dtype)
    return gram + (1j * np.eye(n, dtype=a.dtype) if np.iscomplexobj(a) else 0)  # which is not looked at


def layouts(x):
    """The stack in many ways in which its elements can lie in memory."""
    wide = np.full((*(2 * size for size in x.shape[:-2]), x.shape[-2] + 3, x.shape[-1] + 4), np.nan, x.dtype)
    block = wide[(*(slice(None, None, 2) for _ in x.shape[:-2]), slice(1, -2), slice(2, -2))]
    block[...] = x
    columns = np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
    return [x, np.asfortranarray(x), block, columns, last, x[::-1].copy()[::-1], x[..., ::-1, :].copy()[..., ::-1, :]]


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize(
    ("batch_a", "batch_b"),
    [((5,), (5,)), ((2, 3), (3,)), ((1, 4), (3, 1)), ((), (17,)), ((6,), ()), ((3, 1, 2), (1, 2, 1)), ((1,), (1,))],
)
def test_bits_are_the_ones_of_the_host(batch_a, batch_b, dtype):
    for n in (1, 2, 7, 33):
        a, b = numbers(*batch_a, n, n, dtype=dtype), numbers(*batch_b, n, 3, dtype=dtype)
        kept = a.copy(), b.copy()
        x, y = there(a), there(b)
        same(ts.solve(x, y), ts.solve(a, b))
        assert x.given_back == 1 and x.streams == [5000]  # one call, and the stream that reads the array
        gram = positive(a)
        for lower in (True, False):
            half = (np.tril if lower else np.triu)(gram)
            same(ts.solve(there(half), y, assume="positive", lower=lower), ts.solve(half, b, assume="positive", lower=lower))
        assert np.array_equal(a, kept[0]) and np.array_equal(b, kept[1])


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("batch", [(7,), (2, 3), (1,)])
def test_factors_and_inverses(batch, dtype):
    for rows, cols in ((1, 1), (6, 6), (40, 25), (25, 40)):
        a = numbers(*batch, rows, cols, dtype=dtype)
        packed, pivots = ts.lu(there(a))
        expected, of_host = ts.lu(a)
        same(packed, expected)
        assert np.array_equal(pivots, of_host) and pivots.dtype == of_host.dtype and pivots.flags.writeable
        square = a[..., : min(rows, cols), : min(rows, cols)]
        same(ts.inverse(there(square)), ts.inverse(square))
        gram = positive(square)
        same(ts.cholesky(there(np.tril(gram))), ts.cholesky(np.tril(gram)))
        same(ts.cholesky(there(np.triu(gram)), lower=False), ts.cholesky(np.triu(gram), lower=False))


@pytest.mark.parametrize("dtype", types)
def test_layouts_and_nothing_is_changed(dtype):
    a, b = numbers(4, 6, 6, dtype=dtype), numbers(4, 6, 2, dtype=dtype)
    x, gram, inverse = ts.solve(a, b), positive(a), ts.inverse(a)
    upper, packed = ts.cholesky(gram, lower=False), ts.lu(a)[0]
    for left, other in zip(layouts(a), layouts(gram)):
        kept = left.copy()
        for right in layouts(b):
            same(ts.solve(there(left), there(right)), x)
        same(ts.inverse(there(left)), inverse)
        same(ts.lu(there(left))[0], packed)
        same(ts.cholesky(there(other), lower=False), upper)
        assert left.tobytes() == kept.tobytes()
    twice = np.broadcast_to(a[:, None], (4, 2, 6, 6))  # each matrix is there twice in one memory
    same(ts.solve(there(twice), there(b[:, None])), np.stack([x, x], 1))
    same(ts.inverse(there(np.broadcast_to(a[:1], (3, 6, 6)))), np.stack([inverse[0]] * 3))
    column = np.broadcast_to(b[..., :1], (4, 6, 5))
    same(ts.solve(there(a), there(column)), ts.solve(a, column))


@pytest.mark.parametrize("dtype", types)
def test_vectors(dtype):
    a, b = numbers(3, 4, 4, dtype=dtype), numbers(4, 5, dtype=dtype)
    for vector in (b[:, 1].copy(), b[:, 3], b[::-1, 2]):
        same(ts.solve(there(a), there(vector)), ts.solve(a, vector.copy()))
    same(ts.solve(there(a), there(b)), ts.solve(a, b))  # a matrix, for all systems


def test_arrays_without_dlpack():
    """Their library is not known, so that results are Tessera's, and operands again."""

    class Interface:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = {
                "shape": array.shape,
                "typestr": array.dtype.str,
                "data": (array.ctypes.data, False),
                "strides": array.strides,
                "version": 3,
            }

    for dtype in types:
        a, b = numbers(2, 3, 5, 5, dtype=dtype), numbers(3, 5, 2, dtype=dtype)
        x = ts.solve(Interface(a), Interface(b[..., ::-1]))
        same(x, ts.solve(a, b[..., ::-1]))
        same(ts.solve(there(a), x), ts.solve(a, x.numpy()))
        assert repr(x) == f"DeviceArray(shape=(2, 3, 5, 2), dtype='{x.dtype}', device='cuda:0')"


@pytest.mark.parametrize("dtype", types)
def test_no_systems(dtype):
    for shape, columns in [((2, 0, 5, 5), 3), ((0, 1, 1), 1), ((3, 0, 0), 2), ((3, 4, 4), 0)]:
        a, b = np.ones(shape, dtype) + np.eye(shape[-1], dtype=dtype), np.ones((shape[-1], columns), dtype)
        same(ts.solve(there(a), there(b)), ts.solve(a, b))
        same(ts.cholesky(there(a)), ts.cholesky(a))
        same(ts.inverse(there(a)), ts.inverse(a))
        for ours, its in zip(ts.lu(there(a)), ts.lu(a)):
            assert ours.shape == its.shape


def test_numbers_that_are_not_finite():
    for dtype in types:
        a, b = numbers(6, 5, 5, dtype=dtype), numbers(6, 5, 2, dtype=dtype)
        a[1, 2, 2], a[2, 0, 4], b[3, 1, 1] = np.nan, np.inf, -np.inf
        a[4] *= np.finfo(dtype).max / 4
        x, y = ts.solve(there(a), there(b)).numpy(), ts.solve(a, b)
        assert np.array_equal(np.isnan(x), np.isnan(y))
        assert np.array_equal(np.nan_to_num(x, nan=7), np.nan_to_num(y, nan=7))


def test_streams(capfd):
    a, b = there(numbers(3, 8, 8)), there(numbers(3, 8, 1))

    def log():
        return [line for line in capfd.readouterr().err.splitlines() if line.startswith("small device")]

    ts.solve(a, b)
    assert log() == []
    for call in (ts.solve, lambda x, y, stream: ts.lu(x, stream=stream)):
        call(a, b, stream=77)
        assert log() == ["small device starts after 77", "small device finishes before 77"]


def test_what_is_refused():
    """The messages are the host's, and say where the arrays are."""
    a, b = numbers(2, 3, 4, 4), numbers(4, 2)
    a[1, 2] = 0
    x, y = there(a), there(b)
    negative = -np.eye(4) + np.zeros((2, 3, 1, 1))
    twice = a.copy()
    twice[0, 1] = 0
    both = [
        (lambda f: ts.solve(f(a), f(b)), ValueError),
        (lambda f: ts.inverse(f(twice)), ValueError),
        (lambda f: ts.cholesky(f(negative)), ValueError),
        (lambda f: ts.cholesky(f(negative + 0j), lower=False), ValueError),
        (lambda f: ts.solve(f(negative), f(b), assume="positive"), ValueError),
        (lambda f: ts.solve(f(np.zeros((4, 4))), f(np.ones((3, 4, 1)))), ValueError),
        (lambda f: ts.solve(f(negative[0, 0]), f(np.ones((3, 4, 1))), assume="positive"), ValueError),
        (lambda f: ts.solve(f(a[..., :3]), f(b)), ValueError),
        (lambda f: ts.inverse(f(a[..., :3])), ValueError),
        (lambda f: ts.solve(f(a), f(numbers(3, 2))), ValueError),
        (lambda f: ts.solve(f(a), f(numbers(2, 4, 1))), ValueError),
        (lambda f: ts.solve(f(a), f(b.astype(np.float32))), TypeError),
    ]
    for call, kind in both:
        with pytest.raises(kind) as of_host:
            call(lambda array: array)
        with pytest.raises(kind) as error:
            call(there)
        assert str(error.value) == str(of_host.value) and type(error.value) is type(of_host.value)
    for call, kind, part in [
        (lambda: ts.solve(x, b), ValueError, "a is on CUDA device 0, b in host memory"),
        (lambda: ts.solve(x, y, backend="openmp"), ValueError, "backend openmp computes in host memory"),
        (lambda: ts.inverse(Exporter(a, device=(2, 1))), ValueError, "start with TESSERA_CUDA_DEVICE=1"),
        (lambda: ts.solve(x, y, stream=0), ValueError, "stream = 0 is no CUDA stream"),
        (lambda: ts.solve(x, y, threads=-1), ValueError, "threads"),
        (lambda: ts.lu(Exporter(a.view(np.int64), device=(2, 0), code=0)), TypeError, "int64"),
    ]:
        with pytest.raises(kind, match=part):
            call()


def test_memory():
    """What a call takes is freed in time: the stand-in has only 8 MiB."""
    a, b = numbers(20, 90, 90), numbers(20, 90, 1)
    expected = ts.solve(a, b)
    columns = np.ascontiguousarray(np.swapaxes(a, 1, 2)).swapaxes(1, 2)
    for _ in range(6):
        same(ts.solve(there(columns), there(b)), expected)
    with pytest.raises(ts.OutOfMemory):
        ts.lu(there(numbers(140, 90, 90)))
    same(ts.solve(there(a), there(b)), expected)
