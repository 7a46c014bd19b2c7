"""Arrays that export a buffer and leave out what the buffer protocol lets them leave out: strides, shape, format."""

import array
import ctypes
import sys

import numpy as np
import pytest

import tessera as ts
from conftest import integers
from exporter import Exporter

a, b = integers(3, 4), integers(4, 2, seed=2)
product = a @ b
stack = np.stack([a, 2 * a, -a])

#: How an array may be passed that has C order.
ways = {
    "all": Exporter,
    "no strides": lambda x: Exporter(np.ascontiguousarray(x), strides=None),
    "ctypes": lambda x: in_ctypes(x),
    "memoryview": lambda x: memoryview(np.ascontiguousarray(x)),
    "memoryview of ctypes": lambda x: memoryview(in_ctypes(x)),
    "numpy": lambda x: x,
}
numbers = {"f": ctypes.c_float, "d": ctypes.c_double}


def in_ctypes(x):
    if x.dtype.char not in numbers:
        return Exporter(np.ascontiguousarray(x), strides=None)
    kind = numbers[x.dtype.char]
    for size in reversed(x.shape):
        kind = kind * size
    return kind.from_buffer_copy(np.ascontiguousarray(x).tobytes()) if x.size else kind()


def seen(x):
    return np.asarray(x.array if isinstance(x, Exporter) else x)


@pytest.mark.parametrize("way", ways)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_gemm(way, dtype):
    pass_on = ways[way]
    if dtype in (np.complex64, np.complex128) and way != "numpy":  # struct has no letter for complex numbers
        letters = b"Zf" if dtype == np.complex64 else b"Zd"
        pass_on = lambda x: Exporter(np.ascontiguousarray(x), strides=None, format=letters)  # noqa: E731
    x, y = a.astype(dtype), b.astype(dtype)
    for first, second in [(pass_on(x), y), (x, pass_on(y)), (pass_on(x), pass_on(y))]:
        assert np.array_equal(ts.gemm(first, second), x @ y)
    out = pass_on(np.zeros((3, 2), dtype))
    assert ts.gemm(x, y, out=out) is out
    assert np.array_equal(seen(out), x @ y)
    assert np.array_equal(ts.gemm(x, y, c=pass_on(x @ y), beta=2), 3 * (x @ y))


@pytest.mark.parametrize("way", ways)
def test_epilogue(way):
    pass_on = ways[way]
    bias, residual = np.array([1, -2], np.float32), np.full((3, 2), 3, np.float32)
    want = np.maximum(product + bias, 0) + residual
    assert np.array_equal(ts.gemm(a, b, bias=pass_on(bias), residual=pass_on(residual), activation="relu"), want)
    column = np.array([[1], [2], [3]], np.float32)
    assert np.array_equal(ts.gemm(a, b, bias=pass_on(column)), product + column)
    assert np.array_equal(ts.gemm(a, b, bias=array.array("f", [1, -2])), product + bias)


@pytest.mark.parametrize("way", ways)
def test_gemm_batch(way):
    pass_on = ways[way]
    want = stack @ b
    for x in (pass_on(stack), [pass_on(x) for x in stack]):
        for y in (b, pass_on(b), pass_on(np.stack([b] * 3))):
            assert np.array_equal(ts.gemm_batch(x, y), want)
    out = pass_on(np.zeros((3, 3, 2), np.float32))
    assert ts.gemm_batch(stack, b, out=out) is out
    assert np.array_equal(seen(out), want)
    outs = [pass_on(np.zeros((3, 2), np.float32)) for _ in stack]
    ts.gemm_batch(stack, b, out=outs)
    assert all(np.array_equal(seen(one), right) for one, right in zip(outs, want))
    none = ts.gemm_batch(pass_on(np.zeros((0, 3, 4), np.float32)), b)
    assert none.shape[0] == 0


@pytest.mark.parametrize("way", ways)
def test_check_and_compare(way):
    pass_on = ways[way]
    assert ts.check(pass_on(a), pass_on(b), pass_on(product)).right
    assert not ts.check(pass_on(a), pass_on(b), pass_on(product + 1)).right
    assert ts.check(pass_on(stack), b, pass_on(stack @ b)).right
    assert ts.check([pass_on(a)], [pass_on(b)], [pass_on(product)]).right
    assert ts.check(a, b, product + 1, bias=pass_on(np.ones(2, np.float32))).right
    table = ts.compare(pass_on(a), pass_on(b), backend="reference", math="strict", repeat=1)
    assert {row.verdict for row in table} == {"pass"}


def test_random_shapes_and_strides():
    """Any view of C order without strides is what NumPy makes of it, and any view with strides too."""
    random = np.random.default_rng(5)
    for _ in range(60):
        m, k, n = random.integers(0, 6, 3)
        x = random.integers(-8, 9, (m, k)).astype(np.float32)
        y = random.integers(-8, 9, (2 * k, 3 * n)).astype(np.float32)[::2, ::3]
        assert np.array_equal(ts.gemm(Exporter(x, strides=None), Exporter(y)), x @ y)
        assert np.array_equal(ts.gemm(Exporter(y.T), Exporter(np.ascontiguousarray(x.T), strides=None)), (x @ y).T)


def refused(kind, *words, **arguments):
    out = np.full((3, 2), 7, np.float32)
    with pytest.raises(kind) as caught:
        ts.gemm(**({"a": a, "b": b, "out": out} | arguments))
    for word in words:
        assert word in str(caught.value)
    assert (out == 7).all() and np.array_equal(ts.gemm(a, b), product)


def test_refusals():
    for name, x in (("a", a), ("b", b), ("out", np.zeros((3, 2), np.float32))):
        refused(ValueError, f"{name} exports a buffer with suboffsets", "numpy.array", **{name: Exporter(x, suboffsets=(0, 0))})
        refused(ValueError, f"{name} exports a buffer of 2 dimensions without their sizes", **{name: Exporter(x, shape=None, strides=None)})
        refused(ValueError, f"{name} has 0 dimensions", **{name: Exporter(x, ndim=0, shape=None, strides=None)})
        refused(ValueError, f"{name} has 1 dimensions", **{name: Exporter(x, ndim=1, shape=None, strides=None)})
        refused(ValueError, f"{name} has 4 dimensions", **{name: Exporter(x, ndim=4, shape=(1, 1, 3, 4), strides=None)})
        refused(ValueError, "a dimension of -3 elements", **{name: Exporter(x, shape=(-3, 4))})
        refused(ValueError, f"{name} exports a buffer of float32 with elements of 8 bytes", **{name: Exporter(x, itemsize=8)})
        refused(TypeError, f"{name} holds elements of type 'B'", **{name: Exporter(x, format=None)})
        for order in (b"i", b"ff", b"2f", b"T{f:x:}", b"", b"O"):
            refused(TypeError, f"{name} holds elements of type '{order.decode()}'", **{name: Exporter(x, format=order)})
    refused(ValueError, "out is read-only", out=Exporter(np.zeros((3, 2), np.float32), readonly=1))
    refused(ValueError, "out is read-only", out=memoryview(bytes(24)).cast("f", (3, 2)))
    refused(ValueError, "overflow the address space", a=Exporter(a, ndim=3, shape=(2**30, 2**30, 2**30), strides=None))


def test_byte_order():
    other = ">" if sys.byteorder == "little" else "<"
    own = "<" if sys.byteorder == "little" else ">"
    for letter in "fde":
        refused(TypeError, "a holds elements of type", "in the other order", "newbyteorder", a=Exporter(a, format=f"{other}{letter}".encode()))
    for x in (a.astype(f"{other}f4"), a.astype(f"{other}c8")):
        refused(TypeError, "a holds elements of type", "the other order", a=x)
    refused(TypeError, "out holds elements of type >f4" if other == ">" else "out", out=np.zeros((3, 2), f"{other}f4"))
    for mark in ("", "@", "=", own):
        assert np.array_equal(ts.gemm(Exporter(a, format=f"{mark}f".encode()), b), product)
    with pytest.raises(TypeError, match="order"):
        ts.check(a.astype(f"{other}f4"), b, product)


def test_batches_and_checks_refuse_too():
    odd = Exporter(stack, suboffsets=(0, 0, 0))
    for call in (lambda: ts.gemm_batch(odd, b), lambda: ts.gemm_batch(stack, b, out=Exporter(np.zeros((3, 3, 2), np.float32), suboffsets=(0, 0, 0)))):
        with pytest.raises(ValueError, match="suboffsets"):
            call()
    with pytest.raises(ValueError, match="out is read-only"):
        ts.gemm_batch(stack, b, out=Exporter(np.zeros((3, 3, 2), np.float32), readonly=1))


def test_buffers_are_given_back():
    memory = bytearray(48)
    view = memoryview(memory).cast("f", (3, 4))
    ts.gemm(view, b)
    ts.gemm_batch(memoryview(memory).cast("f", (1, 3, 4)), b)
    with pytest.raises(ValueError):
        ts.gemm(view, a)
    view.release()
    memory.append(1)  # a bytearray that is exported cannot grow
