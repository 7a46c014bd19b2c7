"""16-bit elements: NumPy's float16, and bfloat16, which comes only through DLPack."""

import numpy as np
import pytest

import tessera as ts
from conftest import Exporter, integers, present

a = integers(9, 20)
b = integers(20, 7)


def has(dtype, backend="reference"):
    return bool(ts.kernels(backend, dtype, "strict"))


@pytest.fixture(autouse=True)
def kernels():
    if not has("float16"):
        pytest.skip("the ladders have no kernels of float16")


class BFloat16(Exporter):
    """float32 values that bfloat16 holds exactly, exported as bfloat16."""

    def __init__(self, values):
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        assert not (bits & 0xFFFF).any()
        super().__init__((bits >> 16).astype(np.uint16), code=4)

    def values(self):
        return (self.array.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("backend", present())
def test_float16(backend, no_copy):
    if not has("float16", backend):
        pytest.skip(f"{backend} has no kernels of float16")
    x, y = a.astype(np.float16), np.asfortranarray(b.astype(np.float16))
    c = ts.gemm(x, y, backend=backend)
    assert c.dtype == np.float16 and np.array_equal(c, (a @ b).astype(np.float16))
    wide = np.empty((9, 7), np.float32, order="F")
    ts.gemm(x, y, out=wide, backend=backend)
    assert np.array_equal(wide, a @ b)
    assert ts.gemm(x, y, c=wide, beta=1, backend=backend).dtype == np.float32


def test_float16_with_steps_is_copied():
    x = np.repeat(np.repeat(a.astype(np.float16), 2, 0), 2, 1)[::2, ::2]
    assert np.array_equal(ts.gemm(x, b.astype(np.float16)), (a @ b).astype(np.float16))


@pytest.mark.parametrize("backend", present())
def test_bfloat16(backend):
    if not has("bfloat16", backend):
        pytest.skip(f"{backend} has no kernels of bfloat16")
    x, y = BFloat16(a), BFloat16(b)
    c = ts.gemm(x, y, backend=backend)
    assert c.dtype == np.float32 and np.array_equal(c, a @ b)
    small = integers(9, 20) % 3
    out = BFloat16(np.zeros((9, 7), np.float32))
    ts.gemm(BFloat16(small), BFloat16(b % 3), out=out, backend=backend)
    assert np.array_equal(out.values(), small @ (b % 3))


def test_bfloat16_of_ml_dtypes(no_copy):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    out = np.zeros((9, 7), bfloat16, order="F")
    small = integers(9, 20) % 3
    assert ts.gemm(small.astype(bfloat16), (b % 3).astype(bfloat16), out=out) is out
    assert np.array_equal(out.astype(np.float32), small @ (b % 3))


def test_types_that_do_not_go_together():
    x, y = a.astype(np.float16), b.astype(np.float16)
    with pytest.raises(TypeError, match="a holds float16, b holds float32"):
        ts.gemm(x, b)
    with pytest.raises(TypeError, match="a holds float16, out holds float64; a result has the operands' type, or float32"):
        ts.gemm(x, y, out=np.zeros((9, 7)))
    with pytest.raises(TypeError, match="a holds float64, out holds float16"):
        ts.gemm(a.astype(np.float64), b.astype(np.float64), out=np.zeros((9, 7), np.float16))
    with pytest.raises(ts.KernelRejected, match="math mode tf32 is not for f16 operands"):
        ts.gemm(x, y, math="tf32")
