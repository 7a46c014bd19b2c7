"""Arrays that come through DLPack, and objects that only pretend to."""

import gc
import weakref

import numpy as np
import pytest

import tessera as ts
from conftest import integers

a = integers(6, 7)
b = integers(7, 5)


class Exported:
    """An array of another library, which exports only DLPack; `versions`: it knows DLPack 1."""

    def __init__(self, array, versions=True):
        self.array = array
        self.versions = versions
        self.asked = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        if not self.versions:
            if arguments.keys() - {"stream"}:
                raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.array.__dlpack__(**arguments)


@pytest.mark.parametrize("versions", [True, False])
def test_operands_and_out(versions, no_copy):
    out = np.asfortranarray(np.ones((6, 5), np.float32))
    exported = Exported(out, versions)
    operands = Exported(a.T.copy().T, versions), Exported(b, versions)
    assert ts.gemm(*operands, out=exported, beta=2) is exported
    assert np.array_equal(out, a @ b + 2)
    assert isinstance(ts.gemm(*operands), np.ndarray)
    for operand in operands:
        assert "stream" not in operand.asked[-1] or operand.asked[-1]["stream"] is None


def test_read_only_export():
    frozen = a.copy()
    frozen.flags.writeable = False
    assert np.array_equal(ts.gemm(Exported(frozen), b), a @ b)  # DLPack 1 marks it as read-only
    out = np.zeros((6, 5), np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        ts.gemm(a, b, out=Exported(out))


@pytest.mark.parametrize("versions", [True, False])
def test_memory_is_given_back(versions):
    array = a.copy()
    gone = weakref.ref(array)
    exported = Exported(array, versions)
    ts.gemm(exported, b)
    with pytest.raises(TypeError):
        ts.gemm(exported, b.astype(np.float64))
    with pytest.raises(ValueError):
        ts.gemm(exported, a)
    del array, exported
    gc.collect()
    assert gone() is None


def test_errors():
    with pytest.raises(TypeError, match="a holds elements of type .*int32"):
        ts.gemm(Exported(a.astype(np.int32)), b)
    with pytest.raises(TypeError, match="a holds elements of type .*int32"):
        ts.gemm(Exported(a.astype(np.int32), versions=False), b)
    with pytest.raises(ValueError, match="b has 3 dimensions"):
        ts.gemm(a, Exported(b[None]))


class Odd:
    def __init__(self, device=(1, 0), capsule=None):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule


def test_objects_that_break_the_protocol():
    for device in (None, (1,), "cpu", ("1", 0)):
        with pytest.raises(TypeError):
            ts.gemm(Odd(device), b)
    with pytest.raises(ValueError, match="a is on a device of DLPack's type 10"):
        ts.gemm(Odd((10, 0)), b)
    with pytest.raises(TypeError, match="returned no DLPack capsule, but int"):
        ts.gemm(Odd(capsule=7), b)
    with pytest.raises(KeyError, match="its own"):
        ts.gemm(Odd(capsule=KeyError("its own")), b)
    with pytest.raises(BufferError, match="it requires gradients"):
        ts.gemm(Odd(capsule=BufferError("it requires gradients")), b)
    used = a.__dlpack__()
    np.from_dlpack(type("Once", (), {"__dlpack__": lambda s, **k: used, "__dlpack_device__": lambda s: (1, 0)})())
    with pytest.raises(TypeError, match="no DLPack capsule"):
        ts.gemm(Odd(capsule=used), b)


def test_cuda_array_without_cuda():
    """The array is not read. Where there is no CUDA backend, the error says why."""
    info = next(x for x in ts.backends() if x.name == "cuda")
    if info.available:
        pytest.skip("there is a CUDA backend")
    with pytest.raises(ts.BackendUnavailable) as caught:
        ts.gemm(Odd((2, 0)), b)
    assert info.reason in str(caught.value)


def test_arrays_of_this_process_through_numpy():
    """The result on the CPU is a NumPy array, which exports DLPack itself."""
    assert np.array_equal(np.from_dlpack(ts.gemm(a, b)), a @ b)


@pytest.fixture
def jax():
    module = pytest.importorskip("jax")
    module.config.update("jax_enable_x64", True)
    return module


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_jax_on_the_processor(jax, dtype, no_copy):
    x, y, out = (jax.device_put(jax.numpy.asarray(z, dtype=dtype), jax.devices("cpu")[0]) for z in (a, b, a @ b))
    c = ts.gemm(x, y)
    assert isinstance(c, np.ndarray) and str(c.dtype) == ("float32" if dtype == "bfloat16" else dtype)
    assert np.array_equal(c.astype(np.complex128), a @ b)
    assert np.array_equal(jax.numpy.from_dlpack(c), c)
    if dtype != "bfloat16":  # JAX does not report it for bfloat16
        with pytest.raises(ValueError, match="out is read-only"):  # JAX's arrays are immutable
            ts.gemm(x, y, out=out)
    if not dtype.startswith("complex"):
        stacked = ts.gemm_batch(jax.numpy.stack([x, 2 * x]), y)
        assert np.array_equal(stacked[1].astype(np.float64), 2 * (a @ b))
