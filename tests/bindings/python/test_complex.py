"""Complex matrices: every layout, conjugation, complex alpha and beta, and invalid arguments."""

import numpy as np
import pytest

import tessera as ts
from conftest import Exporter, integers, present


def numbers(rows, cols, dtype=np.complex64, seed=1):
    """Returns numbers with small whole parts, whose products and sums are exact."""
    parts = np.float32 if dtype == np.complex64 else np.float64
    return (integers(rows, cols, parts, seed) + 1j * integers(rows, cols, parts, seed + 100)).astype(dtype)


def block(x):
    large = np.full((x.shape[0] + 3, x.shape[1] + 4), np.nan, x.dtype)
    large[1:-2, 2:-2] = x
    return large[1:-2, 2:-2]


layouts = [np.ascontiguousarray, np.asfortranarray, block]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("backend", present())
def test_layouts_where_they_are(backend, dtype, no_copy):
    a, b, start = numbers(5, 7, dtype), numbers(7, 4, dtype, 2), numbers(5, 4, dtype, 3)
    for of_a in layouts:
        assert np.array_equal(ts.gemm(of_a(a), of_a(b), backend=backend), a @ b)
        for of_out in layouts:
            out = of_out(start.copy())
            assert ts.gemm(of_a(a), b, out=out, alpha=2j, beta=1 - 1j, backend=backend) is out
            assert out.dtype == dtype and np.array_equal(out, 2j * (a @ b) + (1 - 1j) * start)


def test_c_stays():
    a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5, seed=9)
    before = c.copy()
    assert np.array_equal(ts.gemm(a, b, c=c.T.copy().T, beta=1j), a @ b + 1j * c)
    assert np.array_equal(c, before)


@pytest.mark.parametrize("conj_a", [False, True])
@pytest.mark.parametrize("conj_b", [False, True])
def test_conjugates(conj_a, conj_b):
    """Conjugates arrays in C order, transposes and arrays that are copied anyway, for results by rows and columns."""
    a, b = numbers(5, 6), numbers(6, 4, seed=2)
    expected = (a.conj() if conj_a else a) @ (b.conj() if conj_b else b)
    before = a.copy(), b.copy()
    for of_a in (*layouts, lambda x: np.repeat(x, 2, axis=1)[:, ::2]):
        for of_b in layouts:
            for of_out in layouts:
                out = of_out(np.zeros((5, 4), np.complex64))
                ts.gemm(of_a(a), of_b(b), conj_a=conj_a, conj_b=conj_b, out=out)
                assert np.array_equal(out, expected)
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])
    assert np.array_equal(ts.gemm(a.real, b.real, conj_a=conj_a), a.real @ b.real)


def test_conjugate_transposes_are_not_copied(no_copy):
    a, b = numbers(6, 5), numbers(4, 6, seed=2)
    expected = a.conj().T @ b.conj().T
    assert np.array_equal(ts.gemm(a.T, b.T, conj_a=True, conj_b=True), expected)
    out = np.zeros((5, 4), np.complex64, order="F")
    ts.gemm(a.T, b.T, conj_a=True, conj_b=True, out=out)
    assert np.array_equal(out, expected)


def test_the_bits_of_every_backend():
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((2, 90, 90)) + 1j * rng.standard_normal((2, 90, 90))).astype(np.complex64)
    bits = {ts.gemm(a.T, b, conj_a=True, alpha=0.3 - 2j, backend=x).tobytes() for x in present()}
    assert len(bits) == 1


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("backend", present())
def test_the_bits_of_every_layout(backend, dtype):
    rng = np.random.default_rng(4)
    a, b, start = ((rng.standard_normal((70, 70)) + 1j * rng.standard_normal((70, 70))).astype(dtype) for _ in range(3))
    for alpha, beta in ((1, 0), (0.3 - 2j, 0.7 + 1j), (1, 1)):
        bits = set()
        for of_out in layouts:
            for of_a in layouts:
                out = of_out(start.copy())
                ts.gemm(of_a(a), b, conj_b=True, out=out, alpha=alpha, beta=beta, backend=backend)
                bits.add(out.tobytes("C"))
        assert len(bits) == 1


def test_dlpack(no_copy):
    a, b = numbers(5, 7, np.complex128), numbers(7, 4, np.complex128, 2)
    exported = Exporter(a, code=5), Exporter(np.asfortranarray(b), code=5)
    out = Exporter(np.zeros((5, 4), np.complex128), code=5)
    assert ts.gemm(*exported, out=out) is out
    assert np.array_equal(out.array, a @ b)
    assert np.array_equal(np.from_dlpack(ts.gemm(*exported)), a @ b)


@pytest.mark.parametrize(
    "error, arguments, part",
    [
        (TypeError, dict(b=integers(4, 3)), "a holds complex64, b holds float32"),
        (TypeError, dict(b=numbers(4, 3, np.complex128)), "a holds complex64, b holds complex128"),
        (TypeError, dict(a=integers(5, 4)), "a holds float32, b holds complex64"),
        (TypeError, dict(out=np.zeros((5, 3), np.float32)), "a holds complex64, out holds float32"),
        (TypeError, dict(out=np.zeros((5, 3), np.complex128)), "out holds complex128"),
        (TypeError, dict(a=integers(5, 4), b=integers(4, 3), out=np.zeros((5, 3), np.complex64)), "out holds complex64"),
        (TypeError, dict(a=integers(5, 4), b=integers(4, 3), alpha=1j), "alpha must be a real number, not complex"),
        (TypeError, dict(alpha="1"), "alpha must be a number, not str"),
        (TypeError, dict(conj_a=1), "conj_a must be True or False, not int"),
        (TypeError, dict(activation="relu"), "are for real products; this one is of complex64"),
        (TypeError, dict(bias=np.zeros(3, np.complex64)), "are for real products"),
        (ValueError, dict(alpha=1e300j), "is beyond float32"),
        (ValueError, dict(beta=1j), "beta = 1j needs a matrix"),
        (ValueError, dict(kernel="no_such", backend="reference"), "unknown kernel"),
    ],
)
def test_refused(error, arguments, part):
    given = {"a": numbers(5, 4), "b": numbers(4, 3)} | arguments
    with pytest.raises(error) as caught:
        ts.gemm(given.pop("a"), given.pop("b"), **given)
    assert part in str(caught.value)


def test_batches_and_comparisons_are_of_real_matrices():
    a = numbers(4, 4)
    with pytest.raises(TypeError, match="a holds complex64; batches are of real matrices"):
        ts.gemm_batch([a], [a])
    with pytest.raises(TypeError, match="a holds complex64"):
        ts.compare(a, a)
