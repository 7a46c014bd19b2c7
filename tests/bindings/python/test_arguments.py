"""Invalid arguments: an exception names the argument and its value, and nothing is written."""

import numpy as np
import pytest

import tessera as ts
from conftest import integers

a = integers(3, 4)
b = integers(4, 5)


def raises(kind, *parts, **arguments):
    given = {"a": a, "b": b} | arguments
    out = given.get("out")
    before = out.copy() if isinstance(out, np.ndarray) else None
    with pytest.raises(kind) as caught:
        ts.gemm(given.pop("a"), given.pop("b"), **given)
    assert type(caught.value) in (TypeError, OverflowError) or isinstance(caught.value, ts.Error)
    for part in parts:
        assert part in str(caught.value)
    if before is not None:
        assert np.array_equal(out, before)
    assert np.array_equal(ts.gemm(a, b), a @ b)  # valid calls still work


def test_rank():
    raises(ValueError, "a has 1 dimensions", a=a[0])
    raises(ValueError, "b has 3 dimensions", b=b[None])
    raises(ValueError, "a has 0 dimensions", a=np.float32(1))
    raises(ValueError, "out has 1 dimensions", out=np.zeros(15, np.float32))


def test_no_array():
    raises(TypeError, "a must be an array", "not list", "numpy.asarray", a=[[1.0]])
    raises(TypeError, "b must be an array", "not NoneType", b=None)
    raises(TypeError, "out must be an array", "not str", out="out")


def test_element_types():
    raises(TypeError, "a holds elements of type int64", "float32, float64, float16, bfloat16, complex64 and complex128", a=a.astype(np.int64))
    raises(TypeError, "a holds elements of type >f4", a=a.astype(">f4"))
    raises(TypeError, "a holds elements of type object", a=a.astype(object))
    raises(TypeError, "a holds elements of type datetime64", a=np.zeros((3, 4), "M8[s]"))
    raises(TypeError, "a holds elements of type 'B'", a=memoryview(bytes(12)).cast("B", (3, 4)))
    raises(TypeError, "a holds float32, b holds float64", b=b.astype(np.float64))
    raises(TypeError, "a holds float32, out holds float64", out=np.zeros((3, 5)))
    raises(TypeError, "a holds float32, c holds float64; a result has", c=np.zeros((3, 5)), beta=1)


def test_shapes():
    raises(ValueError, "a is 3×4 and b is 5×4", "4 ≠ 5", b=np.ascontiguousarray(b.T))
    raises(ValueError, "out is 5×3", "is 3×5", out=np.zeros((5, 3), np.float32))
    raises(ValueError, "c is 3×4", "is 3×5", c=a, beta=1)


def test_sizes_beyond_int64():
    wide = np.empty((2**40, 0), np.float32)
    raises(ValueError, "a is 1099511627776×0", "overflows the address space", a=wide, b=wide.T)


def test_memory():
    tall = np.broadcast_to(np.float32(1), (2**40, 1))
    raises(MemoryError, "1099511627776×1024", a=tall, b=np.ones((1, 1024), np.float32))
    huge = np.broadcast_to(np.float32(1), (2**45, 2**10))
    raises(MemoryError, "a with strides of (0, 0) bytes", a=huge, b=np.ones((2**10, 0), np.float32))
    assert issubclass(ts.OutOfMemory, MemoryError)


def test_out():
    frozen = np.zeros((3, 5), np.float32)
    frozen.flags.writeable = False
    raises(ValueError, "out is read-only", out=frozen)
    raises(ValueError, "out is read-only", out=np.broadcast_to(np.float32(0), (3, 5)))
    square = integers(6, 6)
    raises(ValueError, "out overlaps a", a=square, b=square.copy(), out=square)
    raises(ValueError, "out overlaps b", a=square.copy(), b=square, out=square)
    raises(ValueError, "out overlaps b", a=square.copy(), b=square.T, out=square)
    raises(ValueError, "out overlaps b", a=square.copy(), b=square, out=square.T)
    raises(ValueError, "out overlaps a", a=square, b=square.copy(), out=square.T)
    raises(ValueError, "out overlaps a", a=square[:4], b=integers(6, 6), out=square[2:])
    raises(TypeError, "c and out are both given", c=np.zeros((3, 5), np.float32), out=np.zeros((3, 5), np.float32))


def test_words():
    raises(ValueError, "unknown backend 'opnmp'", "did you mean 'openmp'", backend="opnmp")
    raises(ValueError, "unknown math mode 'stric'", "did you mean 'strict'", math="stric")
    raises(ValueError, "unknown kernel 'sumd'", "did you mean 'simd'", backend="openmp", kernel="sumd")
    raises(TypeError, "backend must be a str or None, not int", backend=1)
    raises(TypeError, "math must be a str or None, not bytes", math=b"strict")
    raises(TypeError, "kernel must be a str or None, not list", kernel=["simd"])
    raises(TypeError, "gemm(", no_such_argument=1)


def test_numbers():
    raises(TypeError, "alpha must be a real number, not str", alpha="1")
    raises(TypeError, "beta must be a real number, not complex", beta=1j)
    raises(TypeError, "alpha must be a real number, not NoneType", alpha=None)
    raises(ValueError, "beyond float32", alpha=1e300)
    raises(OverflowError, alpha=10**400)
    raises(ValueError, "beta = 2", "pass c, or out", beta=2)
    for threads in (0, -1, 2**31, 2**70):
        raises(ValueError, f"threads = {threads}", threads=threads)
    raises(TypeError, "threads must be an int or None, not float", threads=1.0)
    raises(ValueError, "stream is given, but a is in host memory", stream=7)


def test_rejected_kernel_leaves_out_as_it_was():
    out = np.ones((3, 5), np.float32)
    raises(ts.KernelRejected, "simd", backend="openmp", kernel="simd", math="tf32", out=out)
    raises(ts.KernelRejected, "simd", backend="openmp", kernel="simd", math="tf32", out=out.T.copy().T)


def test_absent_backend():
    absent = [x for x in ts.backends() if not x.available]
    if not absent:
        pytest.skip("every backend is there")
    for backend in absent:
        assert backend.reason
        raises(ts.BackendUnavailable, f"backend {backend.name} is not available", backend.reason, backend=backend.name)


def test_positional_arguments():
    with pytest.raises(TypeError):
        ts.gemm(a)
    with pytest.raises(TypeError):
        ts.gemm(a, b, None)


def test_exceptions_are_the_built_in_ones_too():
    for kind, builtin in [
        (ts.InvalidArgument, ValueError),
        (ts.KernelRejected, ValueError),
        (ts.BackendUnavailable, RuntimeError),
        (ts.OutOfMemory, MemoryError),
        (ts.DeviceError, RuntimeError),
        (ts.IoError, OSError),
    ]:
        assert issubclass(kind, builtin) and issubclass(kind, ts.Error)
