"""Linear systems of arrays of PyTorch, CuPy and JAX on a CUDA device; test_gpu.py says what is skipped."""

import numpy as np
import pytest

import tessera as ts
from system_tasks import tasks

pytestmark = pytest.mark.usefixtures("cuda")
rng = np.random.default_rng(7)


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("PyTorch has no CUDA device")
    return module


def on(torch, x):
    return torch.from_numpy(np.ascontiguousarray(x)).to("cuda")


complex_types = [np.complex64, np.complex128]


def numbers(*shape, dtype=np.float64):
    parts = rng.uniform(-1, 1, (2, *shape))
    return (parts[0] + 1j * parts[1] if dtype in complex_types else parts[0]).astype(dtype)


def same(result, expected):
    """A tensor on the GPU with the bits of an array of the host."""
    assert result.is_cuda and tuple(result.shape) == expected.shape
    assert result.cpu().numpy().tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", tasks)
def test_torch_bits_are_the_ones_of_the_processor(torch, task, dtype):
    for n in (1, 77, 300, 1100):
        a, b = numbers(n, n, dtype=dtype), numbers(n, 5, dtype=dtype)
        a = a / dtype(n) + np.eye(n, dtype=dtype)  # so that solutions stay small
        same(tasks[task](on(torch, a), on(torch, b)), tasks[task](a, b))


@pytest.mark.parametrize("dtype", complex_types)
@pytest.mark.parametrize("task", tasks)
def test_torch_bits_of_complex_numbers(torch, task, dtype):
    for n in (1, 77, 530):  # a segment of complex sums has 512 terms
        a, b = numbers(n, n, dtype=dtype), numbers(n, 5, dtype=dtype)
        a = a / dtype(n) + np.eye(n, dtype=dtype)
        same(tasks[task](on(torch, a), on(torch, b)), tasks[task](a, b))


@pytest.mark.parametrize("dtype", complex_types)
def test_torch_layouts_of_complex_numbers(torch, dtype):
    a, b = numbers(150, 150, dtype=dtype), numbers(150, 8, dtype=dtype)
    a += 150 * np.eye(150, dtype=dtype)
    x, upper = ts.solve(a, b), ts.cholesky(a, lower=False)
    large = torch.zeros(300, 450, dtype=getattr(torch, np.dtype(dtype).name), device="cuda")
    large[::2, ::3] = on(torch, a)
    for left in (on(torch, a), on(torch, a.T).T, large[::2, ::3], on(torch, a.conj()).conj().resolve_conj()):
        for right in (on(torch, b), on(torch, b.T).T):
            same(ts.solve(left, right), x)
        same(ts.cholesky(left, lower=False), upper)
        assert np.array_equal(left.cpu().numpy(), a)
    same(ts.solve(on(torch, a), on(torch, b)[:, 3]), ts.solve(a, b[:, 3].copy()))
    packed, pivots = ts.lu(on(torch, a[:, :90]))
    expected, rows = ts.lu(a[:, :90])
    same(packed, expected)
    assert pivots == rows


@pytest.mark.parametrize("dtype", [np.float64, *complex_types])
@pytest.mark.parametrize("shape", [(1, 1), (700, 90), (90, 700), (513, 513)])
def test_torch_factors(torch, shape, dtype):
    a, b = numbers(*shape, dtype=dtype), numbers(shape[0], 2, dtype=dtype)
    packed, pivots = ts.lu(on(torch, a))
    expected, rows = ts.lu(a)
    same(packed, expected)
    assert pivots == rows
    for factor, its in zip(ts.qr(on(torch, a)), ts.qr(a)):
        same(factor, its)
    same(ts.least_squares(on(torch, a), on(torch, b)), ts.least_squares(a, b))
    same(ts.least_squares(on(torch, a), on(torch, b[:, 0])), ts.least_squares(a, b[:, 0].copy()))


@pytest.mark.parametrize("math", ["strict", "emulated_fp16x3", "scaled_fp16"])
def test_torch_refined_solutions(torch, math):
    for n in (1, 77, 300, 1500):
        a, b = numbers(n, n) / n + np.eye(n), numbers(n, 5)
        expected = ts.solve(a, b, refine=True, math=math)
        same(ts.solve(on(torch, a), on(torch, b), refine=True, math=math), expected)
        same(ts.solve(on(torch, a.T).T, on(torch, b.T).T, refine=True, math=math), expected)
        same(ts.solve(on(torch, a), on(torch, b)[:, 3], refine=True, math=math), expected[:, 3].copy())
    stream = torch.cuda.Stream()
    eye = torch.eye(600, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # about 50 ms
        x = ts.solve(eye * 4.0, eye, refine=True, math=math, stream=stream.cuda_stream) * 2
    stream.synchronize()
    assert bool((x == eye * 0.5).all())


def test_torch_refined_matrices_do_not_visit_the_host(torch):
    import resource

    def compute(a, b):
        x = ts.solve(a, b, refine=True)
        torch.cuda.synchronize()
        return x, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    n = 6000
    a = torch.rand(n, n, dtype=torch.float64, device="cuda") + n * torch.eye(n, dtype=torch.float64, device="cuda")
    b = torch.rand(n, 2, dtype=torch.float64, device="cuda")
    before = compute(a[:1200, :1200], b[:1200])[1]  # loads what has to be loaded
    x, peak = compute(a, b)
    assert peak - before < n * n * 8 / 4
    assert x.is_cuda and float((a @ x - b).abs().max()) < 1e-9


def test_torch_layouts_and_nothing_is_changed(torch):
    a, b = numbers(150, 150), numbers(150, 8)
    x = ts.solve(a, b)
    large = torch.full((300, 450), float("nan"), dtype=torch.float64, device="cuda")
    large[::2, ::3] = on(torch, a)
    block = torch.full((155, 160), float("nan"), dtype=torch.float64, device="cuda")
    block[2:152, 3:153] = on(torch, a)
    for left in (on(torch, a), on(torch, a.T).T, large[::2, ::3], block[2:152, 3:153]):
        for right in (on(torch, b), on(torch, b.T).T):
            same(ts.solve(left, right), x)
        assert np.array_equal(left.cpu().numpy(), a)
    wide = on(torch, b[:, :1]).expand(150, 8)
    same(ts.solve(on(torch, a), wide), ts.solve(a, np.repeat(b[:, :1], 8, 1)))
    same(ts.solve(on(torch, a), on(torch, b)[:, 3]), x[:, 3])


def test_torch_work_in_flight_is_waited_for(torch):
    """A stream of PyTorch is still computing the matrix when solve() is called, and reads the result at once."""
    stream = torch.cuda.Stream()
    eye, b = torch.eye(600, dtype=torch.float64, device="cuda"), torch.ones(600, 3, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()
    for attempt in range(4):
        for number in (None, stream.cuda_stream):
            with torch.cuda.stream(stream):
                torch.cuda._sleep(100_000_000)  # about 50 ms
                a = eye * 2.0 ** (attempt + 1)
                doubled = ts.triangular_solve(a, b, stream=number) * 2
                inverse = ts.inverse(a, stream=number)
                del a
            stream.synchronize()
            assert bool((doubled == 2.0**-attempt).all())
            assert bool((inverse == eye * 2.0 ** -(attempt + 1)).all())


def test_torch_matrices_do_not_visit_the_host(torch):
    """The process's memory does not grow by the size of a matrix."""
    import resource

    def compute(a, b):
        results = ts.solve(a, b), ts.lu(a)[0], ts.cholesky(a @ a.T), ts.inverse(a), *ts.qr(a[:, : a.shape[1] // 6])
        torch.cuda.synchronize()
        return results, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    n = 6000
    a = torch.rand(n, n, dtype=torch.float64, device="cuda") + n * torch.eye(n, dtype=torch.float64, device="cuda")
    b = torch.rand(n, 2, dtype=torch.float64, device="cuda")
    before = compute(a[:1200, :1200], b[:1200])[1]  # loads what has to be loaded
    (x, packed, low, inverse, q, r), peak = compute(a, b)
    assert peak - before < n * n * 8 / 4
    assert packed.is_cuda and low.is_cuda
    assert float((a @ x - b).abs().max()) < 1e-9 and float((inverse @ b - x).abs().max()) < 1e-9
    assert float((q @ r - a[:, :1000]).abs().max()) < 1e-8


def test_torch_complex_matrices_do_not_visit_the_host(torch):
    import resource

    def compute(a, b):
        thin = a[:, : a.shape[1] // 8]
        results = ts.solve(a, b), ts.cholesky(a, lower=False), ts.inverse(a), ts.solve(a, b[:, 0]), *ts.qr(thin)
        torch.cuda.synchronize()
        return results, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    n = 4000
    a = torch.rand(n, n, dtype=torch.complex128, device="cuda") + 2 * n * torch.eye(n, dtype=torch.float64, device="cuda")
    b = torch.rand(n, 2, dtype=torch.complex128, device="cuda")
    before = compute(a[:1200, :1200], b[:1200])[1]  # loads what has to be loaded
    (x, low, inverse, vector, q, r), peak = compute(a, b)
    assert peak - before < n * n * 16 / 4
    assert float((q @ r - a[:, : n // 8]).abs().max()) < 1e-8
    assert low.is_cuda and float((a @ x - b).abs().max()) < 1e-9
    assert float((inverse @ b - x).abs().max()) < 1e-9 and torch.equal(vector, x[:, 0])


def test_torch_errors(torch):
    a, b = on(torch, numbers(6, 6)), on(torch, numbers(6, 2))
    singular = a.clone()
    singular[:, 2] = 0
    for call, kind, part in [
        (lambda: ts.solve(a, b.cpu()), ValueError, "a is on CUDA device 0, b in host memory"),
        (lambda: ts.solve(a.cpu(), b), ValueError, "a is in host memory, b on CUDA device 0"),
        (lambda: ts.solve(a, b, backend="openmp"), ValueError, "backend openmp computes in host memory"),
        (lambda: ts.solve(a, b.float()), TypeError, "a holds float64 and b holds float32"),
        (lambda: ts.solve(a.half(), b.half()), TypeError, "a holds float16"),
        (lambda: ts.least_squares(torch.complex(singular, singular), torch.complex(b, b)), ValueError, "element 2 of R"),
        (lambda: ts.inverse(torch.complex(singular, singular)), ValueError, "pivot 2"),
        (lambda: ts.solve(singular, b), ValueError, "pivot 2"),
        (lambda: ts.cholesky(-a @ a.T), ValueError, "leading minor of order 1"),
        (lambda: ts.least_squares(singular, b), ValueError, "element 2 of R"),
        (lambda: ts.condition(a), TypeError, "estimated in host memory"),
        (lambda: ts.solve(singular, b, refine=True), ValueError, "a pivot of the factors is 0"),
        (lambda: ts.solve(a.float(), b.float(), refine=True), ValueError, "refine is for f64"),
        (lambda: ts.solve(*[torch.complex(x, x) for x in (a, b)], refine=True), TypeError, "refined in float64"),
        (lambda: ts.solve(a.clone().requires_grad_(), b), BufferError, "detach"),
    ]:
        with pytest.raises(kind, match=part):
            call()


def test_torch_batches(torch):
    z = numbers(2, 2, 40, 40, dtype=np.complex64)
    same(ts.inverse(on(torch, z)), ts.inverse(z))
    a, b = numbers(3, 2, 70, 70), numbers(2, 70, 4)
    a = a / 70 + np.eye(70)
    x, y = on(torch, a), on(torch, b)
    same(ts.solve(x, y), ts.solve(a, b))
    same(ts.solve(x, y[0, :, 0]), ts.solve(a, b[0, :, 0].copy()))
    same(ts.cholesky(x), ts.cholesky(a))
    same(ts.solve(x, y, refine=True), ts.solve(a, b, refine=True))
    packed, pivots = ts.lu(x)
    expected, rows = ts.lu(a)
    same(packed, expected)
    assert np.array_equal(pivots, rows) and pivots.dtype == rows.dtype
    for factor, its in zip(ts.qr(x), ts.qr(a)):
        same(factor, its)
    x[1, 1, :, 4] = 0
    with pytest.raises(ValueError, match=r"inverse: the matrix a\[1, 1\] is singular: pivot 4"):
        ts.inverse(x)
    large = np.stack([np.eye(520)] * 3)  # one by one
    large[1, 4, 4] = -1
    with pytest.raises(ValueError, match=r"system \[1\]: .*order 5"):
        ts.cholesky(on(torch, large))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, *complex_types])
def test_torch_stacks_of_all_sizes(torch, dtype):
    """In lanes, in a block's memory, in global memory, and one by one; with systems whose numbers are hard."""
    for n in (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 50, 64, 65, 96, 117, 128, 160, 170, 255, 300, 511, 512, 513):
        count = 2 if n > 300 else 5
        a, b = numbers(count, n, n, dtype=dtype), numbers(count, n, 3, dtype=dtype)
        a[count // 2] *= 1e30 if np.finfo(dtype).bits == 32 else 1e300
        if count > 2:
            a[3, n // 2, n // 3] = np.nan
            a[4] = a[4].real
        x, y = on(torch, a), on(torch, b)
        columns = x.mT.contiguous().mT
        for left in (x, columns):
            assert equal(ts.solve(left, y), ts.solve(a, b)), n
            assert equal(ts.inverse(left), ts.inverse(a)), n
        packed, pivots = ts.lu(columns)
        expected, rows = ts.lu(a)
        assert equal(packed, expected) and np.array_equal(pivots, rows), n
        half = numbers(2, n, n, dtype=dtype)
        gram = half @ np.conj(np.swapaxes(half, -1, -2)) + n * np.eye(n, dtype=dtype)
        for lower in (True, False):
            assert equal(ts.cholesky(on(torch, gram), lower=lower), ts.cholesky(gram, lower=lower)), n
            assert equal(
                ts.solve(on(torch, gram), y[:2], assume="positive", lower=lower),
                ts.solve(gram, b[:2], assume="positive", lower=lower),
            ), n


def equal(result, expected):
    """Has the tensor the bits of the host's array? NaN equals NaN."""
    assert result.is_cuda and tuple(result.shape) == expected.shape
    parts = np.float32 if expected.dtype in (np.float32, np.complex64) else np.float64
    got = np.ascontiguousarray(result.cpu().numpy()).view(parts)
    want = np.ascontiguousarray(expected).view(parts)
    return bool(((got == want) & (np.signbit(got) == np.signbit(want)) | (np.isnan(got) & np.isnan(want))).all())


def test_torch_many_small_systems(torch):
    """More than a launch's blocks have lanes for, in the stream of the caller."""
    stream = torch.cuda.Stream()
    for dtype in (np.float32, np.complex128):
        a, b = numbers(50000, 3, 3, dtype=dtype), numbers(3, dtype=dtype)
        with torch.cuda.stream(stream):
            x, y = on(torch, a), on(torch, b)
            torch.cuda._sleep(100_000_000)  # about 50 ms
            doubled = ts.solve(x * 2, y * 4, stream=stream.cuda_stream) / 2
        stream.synchronize()
        assert equal(doubled, ts.solve(a, b))
        columns = on(torch, np.ascontiguousarray(a.T)).permute(2, 1, 0)
        assert equal(ts.solve(columns, y), ts.solve(a, b))


def test_torch_stacks_that_are_refused(torch):
    a, b = numbers(4, 6, 6), numbers(4, 6, 2)
    a[2, :, 3] = 0
    for call in (
        lambda f: ts.solve(f(a), f(b)),
        lambda f: ts.inverse(f(a)),
        lambda f: ts.cholesky(f(a - 9 * np.eye(6))),
        lambda f: ts.solve(f(a[..., :5]), f(b)),
        lambda f: ts.solve(f(a), f(b[:3])),
        lambda f: ts.solve(f(a), f(b.astype(np.float32))),
    ):
        with pytest.raises((ValueError, TypeError)) as of_host:
            call(lambda array: array)
        with pytest.raises(type(of_host.value)) as error:
            call(lambda array: on(torch, array))
        assert str(error.value) == str(of_host.value)
    kept = on(torch, a)
    with pytest.raises(ts.InvalidArgument):
        ts.solve(kept, on(torch, b))
    assert np.array_equal(kept.cpu().numpy(), a)


def test_arrays_without_dlpack(torch):
    """They have the CUDA array interface alone, as Numba's have; the result is Tessera's."""

    class Interface:
        def __init__(self, tensor):
            self.tensor = tensor
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    a, b = numbers(120, 120), numbers(120, 3)
    x = ts.solve(Interface(on(torch, a.T).T), Interface(on(torch, b)))
    assert isinstance(x, ts.DeviceArray) and x.numpy().tobytes() == ts.solve(a, b).tobytes()
    assert ts.gemm(Interface(on(torch, a)), on(torch, b)).numpy().tobytes() == ts.gemm(a, b).tobytes()


def test_torch_empty(torch):
    empty = torch.empty(0, 0, device="cuda")
    assert ts.solve(empty, torch.empty(0, 3, device="cuda")).shape == (0, 3)
    assert ts.inverse(empty).shape == (0, 0)
    none = torch.empty(2, 0, 5, 5, dtype=torch.complex64, device="cuda")
    x = ts.solve(none, torch.ones(5, dtype=torch.complex64, device="cuda"))
    packed, pivots = ts.lu(none)
    assert x.is_cuda and x.dtype == none.dtype and tuple(x.shape) == (2, 0, 5)
    assert packed.is_cuda and tuple(packed.shape) == (2, 0, 5, 5) and pivots.shape == (2, 0, 5)


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_other_libraries(name):
    if name == "jax":
        library = pytest.importorskip("jax.numpy")
        if not any(device.platform == "gpu" for device in pytest.importorskip("jax").devices()):
            pytest.skip("JAX has no GPU")
    else:
        library = pytest.importorskip(name)
    a, b = numbers(2, 90, 90, dtype=np.float32), numbers(90, 3, dtype=np.float32)
    there = library.asarray(a)

    def bits(array):
        assert type(array) is type(there)
        return np.asarray(array.get() if name == "cupy" else array).tobytes()

    assert bits(ts.solve(there[0], library.asarray(b))) == ts.solve(a[0], b).tobytes()
    assert bits(ts.solve(there, library.asarray(b))) == ts.solve(a, b).tobytes()
    z = numbers(40, 40, dtype=np.complex64)
    assert bits(ts.inverse(library.asarray(z))) == ts.inverse(z).tobytes()
    assert bits(ts.least_squares(there[0].T, library.asarray(b[:, 0]))) == ts.least_squares(a[0].T, b[:, 0].copy()).tobytes()
