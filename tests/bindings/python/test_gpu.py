"""Arrays of PyTorch, CuPy and JAX on a CUDA device. Reports libraries that are absent as skipped; see README.md."""

import numpy as np
import pytest

import tessera as ts
from conftest import integers

pytestmark = pytest.mark.usefixtures("cuda")


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("PyTorch has no CUDA device")
    return module


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


a = integers(60, 70)
b = integers(70, 50)


def on(torch, x, device="cuda"):
    return torch.from_numpy(np.ascontiguousarray(x)).to(device)


def test_host_arrays_on_the_device():
    assert np.array_equal(ts.gemm(a, b, backend="cuda"), a @ b)


def test_torch_result(torch):
    result = ts.gemm(on(torch, a), on(torch, b))
    assert isinstance(result, ts.DeviceArray) and result.shape == (60, 50) and result.dtype == "float32"
    assert np.array_equal(result.numpy(), a @ b)
    tensor = torch.from_dlpack(result)
    assert tensor.is_cuda and tensor.device.index == result.device
    assert np.array_equal(tensor.cpu().numpy(), a @ b)
    again = torch.from_dlpack(result)
    assert again.data_ptr() == tensor.data_ptr()  # no copy
    del result, again
    assert np.array_equal(tensor.cpu().numpy(), a @ b)


@pytest.mark.parametrize("view_a", ["rows", "columns", "block"])
@pytest.mark.parametrize("view_out", ["rows", "columns", "block"])
def test_torch_layouts_where_they_are(torch, view_a, view_out, no_copy):
    def view(x, kind):
        if kind == "rows":
            return on(torch, x)
        if kind == "columns":
            return on(torch, x.T).T
        large = torch.full((x.shape[0] + 3, x.shape[1] + 5), float("nan"), device="cuda")
        large[1:-2, 2:-3] = on(torch, x)
        return large[1:-2, 2:-3]

    start = integers(60, 50, seed=3)
    out = view(start, view_out)
    address = out.data_ptr()
    assert ts.gemm(view(a, view_a), on(torch, b), out=out, alpha=2, beta=-1) is out
    assert out.data_ptr() == address
    assert np.array_equal(out.cpu().numpy(), 2 * (a @ b) - start)
    result = ts.gemm(view(a, view_a), on(torch, b), c=view(start, view_out), beta=2)
    assert np.array_equal(result.numpy(), a @ b + 2 * start)


def test_torch_bits_are_those_of_the_processor(torch):
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((300, 1500)), rng.standard_normal((1500, 200))
    for dtype in (np.float32, np.float64):
        p, q = x.astype(dtype), y.astype(dtype)
        assert ts.gemm(on(torch, p), on(torch, q)).numpy().tobytes() == ts.gemm(p, q, backend="reference").tobytes()


def test_torch_work_in_flight_is_waited_for(torch):
    """A stream of PyTorch is still computing the operand when gemm is called."""
    stream = torch.cuda.Stream()
    ones = torch.ones(2000, 2000, device="cuda")
    torch.cuda.synchronize()
    for attempt in range(5):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # about 100 ms
            left = ones * (attempt + 1)
            result = ts.gemm(left, ones)
        assert float(result.numpy()[7, 9]) == 2000.0 * (attempt + 1)


def test_torch_consumer_stream(torch):
    """With `stream` the call does not wait, and neither does the consumer's host thread."""
    stream = torch.cuda.Stream()
    ones = torch.ones(2000, 2000, device="cuda")
    torch.from_dlpack(ts.gemm(ones * 1, ones, out=ones * 2)) * 3  # loads what has to be loaded
    torch.cuda.synchronize()
    for attempt in range(5):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            left = ones * (attempt + 1)
            result = ts.gemm(left, ones, stream=stream.cuda_stream)
            assert not stream.query()  # gemm returned while the stream was still waiting
            doubled = torch.from_dlpack(result) * 2
            out = torch.empty(2000, 2000, device="cuda")
            ts.gemm(left, ones, out=out, stream=stream.cuda_stream)
            tripled = out * 3
            del result, left, out  # their memory may be used again as soon as the stream has read it
        stream.synchronize()
        assert float(doubled[7, 9]) == 4000.0 * (attempt + 1)
        assert float(tripled[1999, 0]) == 6000.0 * (attempt + 1)


def test_torch_memory_is_not_reused_while_it_is_read(torch):
    """A result is dropped while another stream still has to read it; the next result must not lie in its place."""
    stream = torch.cuda.Stream()
    ones = torch.ones(1000, 1000, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        first = torch.from_dlpack(ts.gemm(ones, ones))
        torch.cuda._sleep(200_000_000)
        copied = first.clone()
        del first
    for _ in range(3):
        ts.gemm(ones, ones, alpha=-1)
    stream.synchronize()
    assert bool((copied == 1000).all())


def test_torch_errors(torch):
    x, y = on(torch, a), on(torch, b)
    with pytest.raises(ValueError, match="a is on CUDA device 0, b in host memory"):
        ts.gemm(x, b)
    with pytest.raises(ValueError, match="a is in host memory, out on CUDA device 0"):
        ts.gemm(a, b, out=torch.empty(60, 50, device="cuda"))
    with pytest.raises(ValueError, match="backend openmp computes in host memory"):
        ts.gemm(x, y, backend="openmp")
    with pytest.raises(ValueError, match="which no kernel reads; make it contiguous"):
        ts.gemm(x[:, ::2], on(torch, b[:35]))
    with pytest.raises(ValueError, match="out overlaps a"):
        square = torch.ones(8, 8, device="cuda")
        ts.gemm(square, square.clone(), out=square)
    with pytest.raises(TypeError, match="a holds elements of type torch.int32"):
        ts.gemm(x.int(), y)
    with pytest.raises(ValueError, match="must be in host memory to be compared"):
        ts.compare(x, y)
    for number in (0, -7):
        with pytest.raises(ValueError, match="is no CUDA stream"):
            ts.gemm(x, y, stream=number)
    result = ts.gemm(x, y)
    with pytest.raises(BufferError, match="is not copied by an export"):
        result.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="copy=True"):
        result.__dlpack__(copy=True)


def test_torch_another_device(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one CUDA device")
    with pytest.raises(ValueError, match="CUDA device 1.*TESSERA_CUDA_DEVICE=1"):
        ts.gemm(on(torch, a, "cuda:1"), on(torch, b, "cuda:1"))


def test_torch_empty(torch):
    result = ts.gemm(torch.empty(0, 5, device="cuda"), torch.empty(5, 4, device="cuda"))
    assert result.shape == (0, 4) and result.numpy().shape == (0, 4)
    result = ts.gemm(torch.empty(3, 0, device="cuda"), torch.empty(0, 4, device="cuda"))
    assert not result.numpy().any()


def test_capsules_of_both_kinds(torch):
    result = ts.gemm(on(torch, a), on(torch, b))
    assert "dltensor_versioned" in repr(result.__dlpack__(max_version=(1, 1)))
    assert '"dltensor"' in repr(result.__dlpack__())
    assert np.array_equal(torch.from_dlpack(result.__dlpack__()).cpu().numpy(), a @ b)


def test_product_of_results(torch):
    result = ts.gemm(on(torch, a), on(torch, b))
    assert np.array_equal(ts.gemm(result, on(torch, b.T)).numpy(), (a @ b) @ b.T)


def test_torch_complex(torch, no_copy):
    x, y = (torch.complex(on(torch, z), on(torch, 2 - z)) for z in (a, b))
    expected = x.cpu().numpy() @ y.cpu().numpy()
    result = ts.gemm(x, y)
    assert result.dtype == "complex64" and np.array_equal(result.numpy(), expected)
    assert torch.from_dlpack(result).dtype == torch.complex64
    out = torch.ones(60, 50, dtype=torch.complex64, device="cuda")
    assert ts.gemm(x.T.contiguous().T, y, out=out, conj_a=True, beta=1j) is out
    assert np.array_equal(out.cpu().numpy(), x.cpu().numpy().conj() @ y.cpu().numpy() + 1j)


def test_cupy_result(cupy):
    result = ts.gemm(cupy.asarray(a), cupy.asarray(b.T).T)
    assert isinstance(result, ts.DeviceArray) and np.array_equal(result.numpy(), a @ b)
    array = cupy.from_dlpack(result)
    again = cupy.from_dlpack(result)
    assert array.data.ptr == again.data.ptr  # no copy
    del result, again
    assert np.array_equal(cupy.asnumpy(array), a @ b)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_cupy_layouts_where_they_are(cupy, dtype, no_copy):
    x, y = cupy.asarray(a.astype(dtype)), cupy.asarray(b.astype(dtype))
    for left in (x, cupy.asfortranarray(x), cupy.pad(x, 3)[3:-3, 3:-3]):
        for order in "CF":
            out = cupy.ones((60, 50), dtype, order=order)
            address = out.data.ptr
            assert ts.gemm(left, y, out=out, beta=2) is out
            assert out.data.ptr == address
            assert np.array_equal(cupy.asnumpy(out), (a @ b + 2).astype(dtype))


def test_cupy_stream_is_honoured(cupy):
    """A stream of CuPy is still computing the operand when gemm is called; with `stream` the host does not wait."""
    large = cupy.ones((2000, 2000), cupy.float32)
    busy = cupy.ones((6000, 6000), cupy.float32)
    ts.gemm(large, large, out=cupy.empty_like(large))  # loads what has to be loaded
    cupy.matmul(busy, busy)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    for attempt in range(3):
        with stream:
            for _ in range(20):
                cupy.matmul(busy, busy)  # keeps the stream busy for longer than the host takes
            left = large * (attempt + 1)
            result = ts.gemm(left, large, stream=stream.ptr)
            assert not stream.done
            doubled = cupy.from_dlpack(result) * 2
            out = cupy.empty_like(large)
            ts.gemm(left, large, out=out, stream=stream.ptr)
            tripled = out * 3
            del result, left, out
        stream.synchronize()
        assert float(doubled[7, 9]) == 4000.0 * (attempt + 1)
        assert float(tripled[1999, 0]) == 6000.0 * (attempt + 1)


def test_cupy_errors(cupy):
    x, y = cupy.asarray(a), cupy.asarray(b)
    with pytest.raises(ValueError, match="a is on CUDA device 0, b in host memory"):
        ts.gemm(x, b)
    with pytest.raises(ValueError, match="which no kernel reads; make it contiguous"):
        ts.gemm(x[:, ::2], y[:35])
    with pytest.raises(TypeError, match="a holds elements of type int32"):
        ts.gemm(x.astype(cupy.int32), y)


def test_jax_on_the_device():
    jax = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("JAX has no CUDA device")
    result = ts.gemm(jax.numpy.asarray(a), jax.numpy.asarray(b))
    assert isinstance(result, ts.DeviceArray) and np.array_equal(result.numpy(), a @ b)
    assert np.array_equal(np.asarray(jax.numpy.from_dlpack(result)), a @ b)


def test_compare_on_the_device():
    table = ts.compare(a, b, backend="cuda", repeat=1)
    assert table and {row.verdict for row in table} <= {"pass", "rejected"}
