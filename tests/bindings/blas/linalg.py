"""Linear algebra of NumPy and SciPy under LD_PRELOAD has the same bits with one thread and with two.

A process reads its number of threads once, so each number has a process of its own, which prints what it computes.
"""

import hashlib
import os
import subprocess
import sys

import numpy as np

N = 200


def numpy_results(a, b, positive):
    x = np.linalg.solve(a, b)
    assert np.allclose(a @ x, b, rtol=0, atol=N * np.finfo(a.dtype).eps * 1000)
    yield from (x, np.linalg.inv(a), np.linalg.cholesky(positive), np.linalg.det(a), *np.linalg.slogdet(a))
    yield from np.linalg.qr(a[:, :70])
    yield from (a @ a.T, a.T @ a, a @ b[:, 0], b[:, 0] @ a)
    whole = a + 1j * a.T
    yield whole @ whole.T
    yield from (a[0] @ b[:, 0], np.linalg.norm(a[0]))
    complex_a = a + a.dtype.type(2) * 1j * a.T
    yield from (complex_a @ complex_a[0], np.vdot(complex_a[0], complex_a[1]))
    complex_b, hermitian = b + 1j * b[::-1], positive + (a - a.T) * a.dtype.type(1e-2) * 1j
    x = np.linalg.solve(complex_a, complex_b)
    assert np.allclose(complex_a @ x, complex_b, rtol=0, atol=N * np.finfo(a.dtype).eps * 1000)
    yield from (x, np.linalg.inv(complex_a), np.linalg.cholesky(hermitian), *np.linalg.slogdet(complex_a))
    yield from np.linalg.qr(complex_a[:, :70])


def scipy_results(a, b, positive):
    from scipy import linalg
    yield linalg.solve(a, b)
    yield linalg.cho_solve(linalg.cho_factor(positive), b)
    packed, pivots = linalg.lu_factor(a)
    yield from (packed, pivots, linalg.lu_solve((packed, pivots), b), linalg.lu_solve((packed, pivots), b, trans=1))
    yield from linalg.qr(a)
    yield from linalg.qr_multiply(a[:, :70], a[:3])
    yield linalg.solve_triangular(positive, b, lower=True)
    for name, arguments in (("trsm", (1.5, positive, b)), ("syrk", (1, a)), ("gemv", (1, a, b[:, 0]))):
        yield getattr(linalg.blas, "sd"[a.dtype == np.float64] + name)(*arguments)
    whole, right = a + 1j * a.T, b - 2j * b[::-1]
    yield linalg.solve(whole, right)
    yield linalg.cho_solve(linalg.cho_factor(positive + (a - a.T) * a.dtype.type(1e-2) * 1j), right)
    packed, pivots = linalg.lu_factor(whole)
    yield from (packed, pivots, *(linalg.lu_solve((packed, pivots), right, trans=trans) for trans in (0, 1, 2)))
    yield from linalg.qr(whole)
    yield from linalg.qr_multiply(whole[:, :70], whole[:3])
    for name, arguments in (("symm", (1, whole, right)), ("hemm", (1, whole, right)), ("trmm", (1.5, whole, right)),
                            ("trsm", (1.5, whole + N * np.eye(N), right)), ("herk", (1, whole)),
                            ("syr2k", (1, whole, whole[::-1])), ("her2k", (1, whole, whole[::-1]))):
        yield getattr(linalg.blas, "cz"[a.dtype == np.float64] + name)(*arguments)


def digest(results):
    rng = np.random.default_rng(1)
    total = hashlib.sha256()
    for dtype in (np.float32, np.float64):
        a, b = rng.standard_normal((N, N)).astype(dtype) / 10, rng.standard_normal((N, 3)).astype(dtype)
        positive = np.tril(a) @ np.tril(a).T + N * np.eye(N, dtype=dtype)
        for result in results(a, b, positive):
            total.update(np.ascontiguousarray(result).tobytes())
    return total.hexdigest()


def check(package):
    """Compares processes with one thread and with two."""
    said = [subprocess.run([sys.executable, __file__, package], env={**os.environ, "TESSERA_NUM_THREADS": str(threads)},
                           check=True, stdout=subprocess.PIPE, text=True).stdout for threads in (1, 2)]
    assert len(said[0].strip()) == 64 and said[0] == said[1], said


if __name__ == "__main__":
    print(digest({"numpy": numpy_results, "scipy": scipy_results}[sys.argv[1]]))
