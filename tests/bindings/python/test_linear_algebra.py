"""Linear systems: the bits of all backends and layouts, solutions that are right, and what is refused."""

import numpy as np
import pytest

import tessera as ts
from tessera.testing import assert_solution

rng = np.random.default_rng(1)
hosts = [backend.name for backend in ts.backends() if backend.available and backend.name != "cuda"]


types = ["float32", "float64", "complex64", "complex128"]
narrow = ("float32", "complex64")


def wide(array):
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def numbers(shape, dtype):
    real = rng.uniform(-1, 1, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def system(n, count, dtype):
    return numbers((n, n), dtype), numbers((n, count), dtype)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("n", [1, 7, 64, 150])
def test_solutions_are_right_and_equal_everywhere(n, dtype):
    a, b = system(n, 3, dtype)
    x = ts.solve(a, b)
    assert x.dtype == dtype and x.shape == (n, 3)
    exact = np.linalg.solve(wide(a), wide(b))
    worst = np.linalg.cond(wide(a)) * np.finfo(dtype).eps * np.abs(exact).max()
    assert np.abs(x - exact).max() <= 10 * worst
    for backend in hosts:
        for threads in (1, 2):
            assert np.array_equal(ts.solve(a, b, backend=backend, threads=threads), x)
            assert np.array_equal(ts.inverse(a, backend=backend), ts.inverse(a, threads=threads))
    assert np.array_equal(ts.solve(a, b[:, 1].copy()), x[:, 1])
    assert ts.solve(a, b[:, 1]).shape == (n,)


@pytest.mark.parametrize("dtype", types)
def test_factors(dtype):
    a, b = system(100, 5, dtype)
    positive = a @ a.T.conj() + np.eye(100, dtype=dtype)
    positive = np.tril(positive) + np.tril(positive, -1).T.conj()
    low = ts.cholesky(positive)
    assert np.array_equal(low, np.tril(low)) and np.allclose(low @ low.T.conj(), positive, rtol=1e-4, atol=1e-4)
    assert np.array_equal(low, ts.cholesky(np.tril(positive)))
    assert np.array_equal(low, ts.cholesky(np.triu(positive), lower=False))
    x = ts.solve(positive, b, assume="positive")
    assert np.allclose(positive @ x, b, atol=1e-2 if dtype in narrow else 1e-9)
    packed, pivots = ts.lu(a)
    permuted = a.copy()
    for row, other in enumerate(pivots):
        permuted[[row, other]] = permuted[[other, row]]
    product = (np.tril(packed, -1) + np.eye(100, dtype=dtype)) @ np.triu(packed)
    assert np.allclose(product, permuted, atol=1e-4 if dtype in narrow else 1e-12)
    for lower in (True, False):
        triangle = (np.tril if lower else np.triu)(a) + 10 * np.eye(100, dtype=dtype)
        y = ts.triangular_solve(a + 10 * np.eye(100, dtype=dtype), b, lower=lower)
        assert np.allclose(triangle @ y, b, atol=1e-4 if dtype in narrow else 1e-12)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("shape", [(1, 1), (40, 7), (7, 40), (150, 100)])
def test_orthogonal_factors(shape, dtype):
    a = numbers(shape, dtype)
    q, r = ts.qr(a)
    least, eps = min(shape), np.finfo(dtype).eps
    assert q.shape == (shape[0], least) and r.shape == (least, shape[1]) and q.dtype == r.dtype == dtype
    assert np.array_equal(r, np.triu(r)) and np.array_equal(r, ts.qr(a, mode="r"))
    expected_q, expected_r = np.linalg.qr(a)
    scale = 100 * eps * np.linalg.cond(wide(a[:, :least])) * least
    assert np.abs(q - expected_q).max() <= scale and np.abs(r - expected_r).max() <= scale * np.abs(r).max()
    for backend in hosts:
        for threads in (1, 2):
            again = ts.qr(np.asfortranarray(a), backend=backend, threads=threads)
            assert np.array_equal(again[0], q) and np.array_equal(again[1], r)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("shape", [(1, 1), (40, 7), (7, 40), (60, 60)])
def test_least_squares(shape, dtype):
    a = numbers(shape, dtype)
    b = numbers((shape[0], 3), dtype)
    x = ts.least_squares(a, b)
    exact = np.linalg.lstsq(wide(a), wide(b), rcond=None)[0]
    condition = np.linalg.cond(wide(a))
    assert x.dtype == dtype and x.shape == exact.shape
    assert np.abs(x - exact).max() <= 100 * condition**2 * np.finfo(dtype).eps * np.abs(exact).max()
    for backend in hosts:
        assert np.array_equal(ts.least_squares(a[:, ::-1][:, ::-1], b, backend=backend, threads=2), x)
    assert np.array_equal(ts.least_squares(a, b[:, 1]), ts.least_squares(a, b[:, 1:2])[:, 0])


def test_layouts_have_equal_bits_and_nothing_is_changed():
    a, b = system(60, 4, "float64")
    x = ts.solve(a, b)
    wide = np.full((120, 180), np.nan)
    wide[::2, ::3] = a
    before = a.copy(), b.copy()
    for other in (np.asfortranarray(a), wide[::2, ::3], a[::-1].copy()[::-1]):
        assert np.array_equal(ts.solve(other, np.asfortranarray(b)), x)
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


def test_arrays_of_pytorch():
    torch = pytest.importorskip("torch")
    a, b = system(20, 2, "float32")
    assert np.array_equal(ts.solve(torch.from_numpy(a), torch.from_numpy(b)), ts.solve(a, b))
    assert np.array_equal(ts.solve(torch.from_numpy(a), torch.from_numpy(b[:, 0].copy())), ts.solve(a, b[:, 0]))


def test_what_is_refused():
    a, b = system(4, 2, "float64")
    with pytest.raises(ValueError, match="solve: the matrix is 4×3, and must be square"):
        ts.solve(a[:, :3], b)
    with pytest.raises(ts.InvalidArgument, match="the right-hand side has 3 rows; it must have 4"):
        ts.solve(a, b[:3])
    with pytest.raises(ts.InvalidArgument, match="pivot 0 of its factorisation"):
        ts.solve(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(ts.InvalidArgument, match="leading minor of order 2 is not"):
        ts.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ts.InvalidArgument, match="assume: unknown word 'symmetric'; use 'general' or 'positive'"):
        ts.solve(a, b, assume="symmetric")
    with pytest.raises(TypeError, match="a holds float64 and b holds float32; both must have one type"):
        ts.solve(a, b.astype(np.float32))
    with pytest.raises(TypeError, match="a holds float16; linear systems are solved in float32, float64, complex64 and"):
        ts.solve(a.astype(np.float16), b)
    with pytest.raises(TypeError, match="a holds complex128 and b holds float64; both must have one type"):
        ts.solve(a.astype(complex), b)
    with pytest.raises(ts.InvalidArgument, match="refine is for f64, and the matrix is of complex numbers of f32"):
        ts.solve(a.astype("complex64"), b.astype("complex64"), refine=True)
    with pytest.raises(ts.InvalidArgument, match="pivot 0 of its factorisation"):
        ts.solve(np.zeros((3, 3), complex), np.ones(3, complex))
    with pytest.raises(ts.InvalidArgument, match="leading minor of order 2 is not"):
        ts.cholesky(np.array([[1.0, 2.0j], [-2.0j, 1.0]]))
    with pytest.raises(ts.InvalidArgument, match="least_squares: the matrix is 4×4, and the right-hand side has 3 rows"):
        ts.least_squares(a, b[:3])
    with pytest.raises(ValueError, match="element 1 of R's diagonal, counted from 0, is 0"):
        ts.least_squares(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.ones(3))
    with pytest.raises(ValueError, match="element 1 of R's diagonal, counted from 0, is 0"):
        ts.least_squares(np.array([[1.0j, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.ones(3, complex))
    with pytest.raises(ts.InvalidArgument, match="mode: unknown word 'full'; use 'reduced' or 'r'"):
        ts.qr(a, mode="full")
    assert ts.qr(np.zeros((0, 3)))[1].shape == (0, 3)
    with pytest.raises(TypeError):
        ts.solve(a, None)
    with pytest.raises(ts.InvalidArgument, match="backend"):
        ts.solve(a, b, backend="nonsense")
    assert ts.solve(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
    assert ts.inverse(np.zeros((0, 0))).shape == (0, 0)


@pytest.mark.parametrize("dtype", types)
@pytest.mark.parametrize("n", [1, 40, 200])
def test_anybodys_solution_is_certified(n, dtype):
    a, b = system(n, 2, dtype)
    for x in (np.linalg.solve(a, b), ts.solve(a, b)):
        answer = ts.check_solve(a, x, b)
        assert answer and answer.right and answer.unjudged == 0, str(answer)
        assert 0 <= answer.by_elements[0] <= answer.by_elements[1] <= answer.limit
        assert answer.by_norm[1] <= answer.by_elements[1]
        assert_solution(a.T, np.linalg.solve(a.T, b[:, 0]), b[:, 0])
        assert_solution(np.asfortranarray(a)[::-1], x, b[::-1])
        wrong = x.copy()
        number = x[n // 2, 1]
        wrong[n // 2, 1] += number / np.abs(number) * np.abs(x[:, 1]).max()  # which shows in any data
        answer = ts.check_solve(a, wrong, b)
        assert answer.verdict == "wrong" and answer.col == 1
        assert ts.check_solve(a, wrong, b, limit=0.5)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_solutions_of_complex_systems_have_the_right_conjugates(dtype):
    a, b = system(30, 2, dtype)
    x = np.linalg.solve(a, b)
    answer = ts.check_solve(a, x, b)
    assert answer and str(answer).startswith(f"right: X (30×2, {dtype})")
    assert answer.limit == 3 * 40 * np.finfo(np.dtype(dtype).type(0).real.dtype).eps / 2 * (2 * np.sqrt(2.0))
    assert not ts.check_solve(a, x.conj(), b)
    assert not ts.check_solve(a.conj(), x, b)
    assert_solution(a.conj(), x.conj(), b.conj())
    assert_solution(a.real.astype(wide(a.real).dtype), np.linalg.solve(wide(a.real), wide(b)), b)  # a real, x and b complex
    imaginary = x.copy()
    imaginary[4, 0] += 1e-2j
    with pytest.raises(AssertionError, match=f"wrong: X .30×2, {dtype}. solves no system"):
        assert_solution(a, imaginary, b)
    torch = pytest.importorskip("torch")
    assert_solution(torch.from_numpy(a).conj(), x.conj(), b.conj())  # a lazy conjugate


def test_an_ill_conditioned_system_is_no_excuse():
    n = 12
    hilbert = np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
    b = hilbert @ np.ones(n)
    x = np.linalg.solve(hilbert, b)
    assert np.abs(x - 1).max() > 1e-4  # far from the solution, and yet
    assert_solution(hilbert, x, b)
    with pytest.raises(AssertionError, match="near in norm|no system that is near"):
        assert_solution(hilbert, x.astype(np.float32).astype(np.float64), b)


def test_certificates_of_solutions_say_what_is_wrong():
    a, b = system(5, 1, "float64")
    x = np.linalg.solve(a, b)
    for arguments, said in (
        ((a[:4], x, b), "a is 4×5, and must be square"),
        ((a, x[:4], b), "x is 4×1"),
        ((a, x, b[:, :0]), "b is 5×0"),
        ((a[None], x, b), "a has 3 dimensions"),
    ):
        with pytest.raises(ts.InvalidArgument, match=said):
            ts.check_solve(*arguments)
    with pytest.raises(ts.InvalidArgument, match="nearness: unknown word 'rows'"):
        ts.check_solve(a, x, b, nearness="rows")
    with pytest.raises(ts.InvalidArgument, match="limit = -1"):
        ts.check_solve(a, x, b, limit=-1)
    with pytest.raises(AssertionError, match="wrong: X .5×1, f64. solves no system"):
        assert_solution(a, x + 1, b)
    a[0, 0] = np.nan
    with pytest.raises(AssertionError, match="unknown"):
        assert_solution(a, x, b)


def test_refined_solutions_are_certified_or_refused():
    a, b = system(120, 2, "float64")
    x = ts.solve(a, b, refine=True)
    assert_solution(a, x, b)
    for backend in hosts:
        assert np.array_equal(ts.solve(a, b, refine=True, backend=backend, threads=1), x)
    a_complex, b_complex = system(90, 2, "complex128")
    assert_solution(a_complex, ts.solve(a_complex, b_complex, refine=True), b_complex)
    hilbert = np.array([[1.0 / (i + j + 1) for j in range(12)] for i in range(12)])
    with pytest.raises(ts.InvalidArgument, match="factors in f32 do not lead to a solution"):
        ts.solve(hilbert, np.ones(12), refine=True)
    with pytest.raises(ts.InvalidArgument, match="refine is for f64"):
        ts.solve(a.astype("float32"), b.astype("float32"), refine=True)
    with pytest.raises(ts.InvalidArgument, match="refine: is for general matrices"):
        ts.solve(a, b, assume="positive", refine=True)


def test_modes_of_refined_solutions():
    a, b = system(1100, 1, "float64")
    x = ts.solve(a, b, refine=True, math="emulated_fp16x3")
    assert_solution(a, x, b)
    assert np.array_equal(ts.solve(np.stack([a]), b, refine=True, math="emulated_fp16x3", threads=1)[0], x)
    with pytest.raises(ts.InvalidArgument, match="math: is 'emulated_fp16x3', and goes with refine alone"):
        ts.solve(a, b, math="emulated_fp16x3")
    with pytest.raises(ts.InvalidArgument, match="factors of real numbers are strict"):
        ts.solve(a[:4, :4], b[:4], refine=True, math="tf32")
    with pytest.raises(ts.InvalidArgument, match="factors of complex numbers are strict ones alone"):
        ts.solve(a[:4, :4].astype("complex128"), b[:4].astype("complex128"), refine=True, math="scaled_fp16")


@pytest.mark.parametrize("dtype", types)
def test_condition_estimates(dtype):
    a, _ = system(60, 1, dtype)
    gram = a @ a.T.conj() + np.eye(60, dtype=dtype)
    for matrix, assume in ((a, "general"), (gram, "general"), (gram, "positive")):
        exact = np.linalg.cond(wide(matrix), 1)
        estimate = ts.condition(matrix, assume=assume)
        assert exact / 3 <= estimate <= exact * 1.01
        assert all(ts.condition(matrix, assume=assume, backend=backend) == estimate for backend in hosts)
    assert ts.condition(np.zeros((3, 3))) == np.inf
    with pytest.raises(ts.InvalidArgument, match="must be square"):
        ts.condition(a[:5])
    with pytest.raises(ts.InvalidArgument, match="unknown word 'symmetric'"):
        ts.condition(a, assume="symmetric")
