"""Bias, activation and residual: their results in every order of elements, and invalid arguments."""

import numpy as np
import pytest

import tessera as ts
from conftest import integers, present

a = integers(9, 20)
b = integers(20, 7, seed=2)
columns = integers(1, 7, seed=3)
rows = integers(9, 1, seed=4)
residual = integers(9, 7, seed=5)


def gelu(x):
    x = x.astype(np.float64)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@pytest.mark.parametrize("backend", present())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", "CF")
def test_steps_in_their_order(backend, dtype, order):
    x, y, r = a.astype(dtype), b.astype(dtype), np.asarray(residual.astype(dtype), order=order)
    out = np.empty((9, 7), dtype, order=order)
    got = ts.gemm(x, y, out=out, bias=columns.astype(dtype), activation="relu", residual=r, backend=backend)
    assert got is out and np.array_equal(out, np.maximum(a @ b + columns, 0) + residual)
    ts.gemm(x, y, out=out, bias=rows.astype(dtype), backend=backend)
    assert np.array_equal(out, a @ b + rows)


@pytest.mark.parametrize("backend", present())
def test_residual_in_the_other_order(backend):
    out = np.empty((9, 7), np.float32, order="F")
    assert np.array_equal(ts.gemm(a, b, out=out, residual=residual, backend=backend), a @ b + residual)
    turned = np.asfortranarray(residual)
    assert np.array_equal(ts.gemm(a, b, residual=turned, backend=backend), a @ b + residual)


def test_bias_as_numpy_broadcasts_it():
    long = np.repeat(columns[0], 3)
    for bias in (columns[0], columns, long[::3], long.reshape(1, -1)[:, ::3], columns[0][::-1][::-1]):
        assert np.array_equal(ts.gemm(a, b, bias=bias), a @ b + columns)
    for bias in (rows, np.repeat(rows, 2, 1)[:, :1], np.asfortranarray(np.repeat(rows, 2, 0))[::2]):
        assert np.array_equal(ts.gemm(a, b, bias=bias), a @ b + rows)


def test_gelu():
    small = (a / 64).astype(np.float64)
    got = ts.gemm(small, b.astype(np.float64), activation="gelu")
    assert np.allclose(got, gelu(small @ b), rtol=1e-14, atol=1e-15)


def test_the_same_bits_everywhere():
    x = np.random.default_rng(7).standard_normal((50, 1100), np.float32)
    y = np.random.default_rng(8).standard_normal((1100, 33), np.float32)
    bias = np.random.default_rng(9).standard_normal(33, np.float32)
    results = [ts.gemm(x, y, bias=bias, activation="gelu", backend=backend).tobytes() for backend in present()]
    assert len(set(results)) == 1


def test_float32_to_float16():
    out = np.empty((9, 7), np.float16)
    ts.gemm(a, b, out=out, bias=columns[0].astype(np.float16))
    assert np.array_equal(out, (a @ b + columns).astype(np.float16))


@pytest.mark.parametrize(
    "arguments, error, part",
    [
        ({"bias": columns[0, :3]}, ValueError, "bias is 1×3"),
        ({"bias": columns[0].astype(np.float64)}, TypeError, "bias holds float64"),
        ({"bias": residual}, ValueError, "bias is 9×7"),
        ({"bias": 3.0}, TypeError, "bias"),
        ({"bias": residual.reshape(9, 7, 1)}, ValueError, "3 dimensions"),
        ({"activation": "rely"}, ValueError, "relu"),
        ({"activation": 1}, TypeError, "activation must be a str"),
        ({"residual": columns}, ValueError, "residual is 1×7"),
        ({"residual": residual[0]}, ValueError, "1 dimensions"),
    ],
)
def test_refusals(arguments, error, part):
    out = np.full((9, 7), 7, np.float32)
    with pytest.raises(error, match=part):
        ts.gemm(a, b, out=out, **arguments)
    assert (out == 7).all()


def test_residual_that_is_the_result():
    out = np.full((9, 7), 7, np.float32)
    with pytest.raises(ValueError, match="residual"):
        ts.gemm(a, b, out=out, residual=out)
    assert (out == 7).all()
