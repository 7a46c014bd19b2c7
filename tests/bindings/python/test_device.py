"""Arrays on a CUDA device, tested without a device.

tests/system/plugin/small_device.cpp stands in for the CUDA plug-in; its memory is the host's, and the arrays only claim to be on
a device."""

import ctypes
import gc

import numpy as np
import pytest

import tessera as ts
from conftest import Exporter, Managed, ManagedVersioned, integers, pointer_of

a = integers(12, 20)
b = integers(20, 9)


@pytest.fixture(autouse=True)
def stand_in():
    info = next(x for x in ts.backends() if x.name == "cuda")
    if info.device != "small device":
        pytest.skip("the CUDA plug-in is not the stand-in: see CMakeLists.txt")


def on_device(array, number=0, code=2):
    return Exporter(array, device=(2, number), code=code)


def test_result_is_on_the_device():
    x, y = on_device(a), on_device(b)
    result = ts.gemm(x, y)
    assert isinstance(result, ts.DeviceArray)
    assert (result.shape, result.dtype, result.device) == ((12, 9), "float32", 0)
    assert repr(result) == "DeviceArray(shape=(12, 9), dtype='float32', device='cuda:0')"
    assert np.array_equal(result.numpy(), a @ b)
    assert x.given_back == y.given_back == 1
    assert x.streams[-1] == y.streams[-1] == 5000  # the stream that reads the arrays


@pytest.mark.parametrize("kind, name, version", [(Managed, b"dltensor", None), (ManagedVersioned, b"dltensor_versioned", (1, 1))])
def test_capsules(kind, name, version):
    result = ts.gemm(on_device(a.astype(np.float64)), on_device(b.astype(np.float64)))
    assert result.__dlpack_device__() == (2, 0)
    capsule = result.__dlpack__(max_version=version)
    managed = kind.from_address(pointer_of(capsule, name))
    if version:
        assert (managed.major, managed.flags) == (1, 0)
    tensor = managed.tensor
    assert (tensor.device_type, tensor.device_id, tensor.ndim) == (2, 0, 2)
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (2, 64, 1, 0)
    assert tensor.shape[:2] == [12, 9] and tensor.strides[:2] == [9, 1]
    del result  # the capsule holds the memory
    gc.collect()
    values = np.ctypeslib.as_array(ctypes.cast(tensor.data, ctypes.POINTER(ctypes.c_double)), (12, 9))
    assert np.array_equal(values, a @ b)


def test_complex_numbers():
    x, y = a[:, :7] + 2j * a[:, 7:14], b[:7] - 1j * b[7:14]  # complex64
    for left in views(x):
        result = ts.gemm(on_device(left, code=5), on_device(y, code=5), alpha=1j)
        assert (result.shape, result.dtype) == ((12, 9), "complex64")
        assert np.array_equal(result.numpy(), 1j * (x @ y))
    start = result.numpy()
    for c in views(start):
        got = ts.gemm(on_device(x, code=5), on_device(y, code=5), c=on_device(c, code=5), beta=2j)
        assert np.array_equal(got.numpy(), x @ y + 2j * start)
    tensor = Managed.from_address(pointer_of(capsule := result.__dlpack__(), b"dltensor")).tensor
    assert (tensor.code, tensor.bits, tensor.strides[:2]) == (5, 64, [9, 1]) and capsule
    turned = on_device(x.T.copy().T, code=5)
    assert np.array_equal(ts.gemm(turned, on_device(y, code=5), conj_a=True).numpy(), x.conj() @ y)
    with pytest.raises(ValueError, match="only what is also transposed is conjugated"):
        ts.gemm(on_device(x, code=5), on_device(y, code=5), conj_a=True)


def test_complex_bits_of_every_layout():
    rng = np.random.default_rng(5)
    x, y, start = ((rng.standard_normal((40, 40)) + 1j * rng.standard_normal((40, 40))).astype(np.complex64) for _ in "xyz")
    for beta in (0, 0.7 + 1j):
        bits = set()
        for out in views(start):
            ts.gemm(on_device(x, code=5), on_device(y, code=5), out=on_device(out, code=5), alpha=0.3 - 2j, beta=beta)
            bits.add(out.tobytes("C"))
        assert bits == {ts.gemm(x, y, c=start, alpha=0.3 - 2j, beta=beta, backend="reference").tobytes()}


def views(x):
    large = np.full((x.shape[0] + 3, x.shape[1] + 4), np.nan, x.dtype)
    large[1:-2, 2:-2] = x
    return [x.copy(), np.asfortranarray(x), large[1:-2, 2:-2]]


def test_layouts(no_copy):
    start = integers(12, 9, seed=3)
    for left in views(a):
        for right in views(b):
            assert np.array_equal(ts.gemm(on_device(left), on_device(right)).numpy(), a @ b)
        for out in views(start):
            target = on_device(out)
            assert ts.gemm(on_device(left), on_device(b), out=target, alpha=2, beta=-1) is target
            assert np.array_equal(out, 2 * (a @ b) - start)
        for c in views(start):
            result = ts.gemm(on_device(left), on_device(b), c=on_device(c), beta=2)
            assert np.array_equal(result.numpy(), a @ b + 2 * start)
            assert np.array_equal(c, start)


def test_streams(capfd):
    def log():
        return [line for line in capfd.readouterr().err.splitlines() if line.startswith("small device")]

    x, y = on_device(a), on_device(b)
    ts.gemm(x, y)
    assert log() == []
    result = ts.gemm(x, y, stream=77)
    assert log() == ["small device starts after 77", "small device finishes before 77"]
    result.__dlpack__(stream=78)
    result.__dlpack__(stream=78, max_version=(1, 0))
    result.__dlpack__()  # the legacy default stream
    result.__dlpack__(stream=-1)  # the consumer orders the streams itself
    assert log() == ["small device finishes before 78"] * 2 + ["small device finishes before 1"]
    kept = result.__dlpack__(stream=79)
    assert log() == ["small device finishes before 79"]
    del result
    assert log() == []
    del kept  # frees the memory for work that is ordered after those streams
    assert log() == [f"small device starts after {stream}" for stream in (78, 1, 79)]


def test_errors():
    x, y = on_device(a), on_device(b)
    for arguments, kind, part in [
        (dict(a=x, b=b), ValueError, "a is on CUDA device 0, b in host memory"),
        (dict(a=a, b=y), ValueError, "a is in host memory, b on CUDA device 0"),
        (dict(a=a, b=b, out=on_device(a @ b)), ValueError, "a is in host memory, out on CUDA device 0"),
        (dict(a=x, b=y, out=a @ b), ValueError, "a is on CUDA device 0, out in host memory"),
        (dict(a=x, b=y, c=a @ b, beta=1), ValueError, "a is on CUDA device 0, c in host memory"),
        (dict(a=x, b=on_device(b, 1)), ValueError, "b on CUDA device 1"),
        (dict(a=on_device(a, 1), b=on_device(b, 1)), ValueError, "start with TESSERA_CUDA_DEVICE=1"),
        (dict(a=x, b=y, backend="openmp"), ValueError, "backend openmp computes in host memory"),
        (dict(a=on_device(np.repeat(np.repeat(a, 2, 1), 2, 0)[::2, ::2]), b=y), ValueError, "which no kernel reads"),
        (dict(a=x, b=y, stream=0), ValueError, "stream = 0 is no CUDA stream"),
        (dict(a=x, b=y, stream="0"), TypeError, "stream must be None or the number of a CUDA stream, not str"),
        (dict(a=x, b=y, kernel="no_such"), ValueError, "unknown kernel 'no_such'"),
    ]:
        with pytest.raises(kind, match=part.replace("(", r"\(")):
            ts.gemm(**arguments)
    square = integers(8, 8)
    with pytest.raises(ValueError, match="out overlaps a"):
        ts.gemm(on_device(square), on_device(square.copy()), out=on_device(square))
    result = ts.gemm(x, y)
    with pytest.raises(BufferError, match="is not copied by an export"):
        result.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="copy=True"):
        result.__dlpack__(copy=True)
    for odd in (dict(stream="1"), dict(max_version=1), dict(dl_device="cpu")):
        with pytest.raises(TypeError):
            result.__dlpack__(**odd)


def test_memory():
    """Results are freed in time: the stand-in has only 8 MiB."""
    big = np.ones((1200, 1), np.float32)
    with pytest.raises(ts.OutOfMemory):
        ts.gemm(on_device(np.ones((2000, 1), np.float32)), on_device(np.ones((1, 2000), np.float32)))
    for _ in range(10):  # a product takes 5.5 MiB
        result = ts.gemm(on_device(big), on_device(big.T))
        capsule = result.__dlpack__()
        del result, capsule


def test_host_arrays_and_comparison():
    assert np.array_equal(ts.gemm(a, b, backend="cuda"), a @ b)
    table = ts.compare(a, np.asfortranarray(b), backend="cuda", repeat=1)
    assert {row.verdict for row in table} == {"pass"}
    with pytest.raises(ValueError, match="must be in host memory to be compared"):
        ts.compare(on_device(a), on_device(b))


def described(array):
    """Describes an array as tessera.torch describes a tensor on a GPU to the compiled module."""
    strides = (stride // array.itemsize for stride in array.strides)
    return (array.ctypes.data, 2, 8 * array.itemsize, 2, 0, *array.shape, *strides)


def multiply_tensors(x, y, out, stream=7, **options):
    return ts._core._tensor_product(False, described(x), described(y), out=described(out), stream=stream, **options)


def test_products_go_into_the_stream_itself(capfd):
    out = np.empty((12, 9), np.float32)
    for stream in (70, 71, 70):
        assert multiply_tensors(a, b, out, stream=stream) is not None and np.array_equal(out, a @ b)
    assert capfd.readouterr().err.split("\n") == ["small device adopts 70", "small device adopts 71", ""]


def test_tensors():
    out = np.empty((12, 9), np.float32)
    assert multiply_tensors(a, b, out) is not None and np.array_equal(out, a @ b)
    by_columns = np.empty((9, 12), np.float32).T
    assert multiply_tensors(a, b, by_columns, stream=8) is not None and np.array_equal(by_columns, a @ b)
    bias = integers(1, 9)[0]
    options = {"bias": described(bias), "activation": "relu"}
    assert multiply_tensors(a, b, out, **options) is not None and np.array_equal(out, np.maximum(a @ b + bias, 0))
    x, y = np.stack([a, 2 * a]), np.stack([b, b])
    stack = np.empty((2, 12, 9), np.float32)
    assert multiply_tensors(x, y, stack) is not None and np.array_equal(stack, x @ y)
    assert multiply_tensors(x, b, stack) is not None and np.array_equal(stack, x @ y)
    assert multiply_tensors(a[:, ::2], b[:10], out) is None  # no kernel reads these strides
    assert multiply_tensors(a, b[:5], out) is None
    assert ts._core._tensor_product(False, described(a), b, out=described(out), stream=7) is None


def test_groups_of_tensors():
    rows = np.empty((12, 9), np.float32)
    w = np.stack([b, -b])
    done = ts._core._grouped_tensor_product(described(a), described(w), [5, 12], None, described(rows), 7)
    assert done is not None and np.array_equal(rows, np.concatenate([a[:5] @ b, a[5:] @ -b]))


def test_tensors_of_another_device():
    other = (*described(a)[:4], 1, *described(a)[5:])
    out = np.empty((12, 9), np.float32)
    other_out = (*described(out)[:4], 1, *described(out)[5:])
    other_b = (*described(b)[:4], 1, *described(b)[5:])
    with pytest.raises(ts.InvalidArgument, match="on CUDA device 1, but Tessera uses CUDA device 0"):
        ts._core._tensor_product(False, other, other_b, out=other_out, stream=7)
    assert ts._core._tensor_product(False, other, described(b), out=other_out, stream=7) is None
