"""NumPy under LD_PRELOAD: its products are right, and the kernel log shows that Tessera made them."""

import linalg
import numpy as np

rng = np.random.default_rng(1)
for dtype in (np.float32, np.float64):
    a = rng.integers(-9, 9, (123, 77)).astype(dtype)
    b = rng.integers(-9, 9, (77, 65)).astype(dtype)
    exact = a.astype(np.int64) @ b.astype(np.int64)
    assert np.array_equal(a @ b, exact)
    assert np.array_equal(np.asfortranarray(a) @ b, exact)
    assert np.array_equal(a @ np.asfortranarray(b), exact)
    assert np.array_equal((b.T @ a.T).T, exact)
for dtype in (np.complex64, np.complex128):
    re, im = rng.integers(-9, 9, (2, 123, 77))
    a = (re + 1j * im).astype(dtype)
    b = (rng.integers(-9, 9, (77, 65)) - 2j * rng.integers(-9, 9, (77, 65))).astype(dtype)
    exact = np.einsum("ip,pj->ij", a, b)  # without a BLAS
    assert np.array_equal(a @ b, exact)
    assert np.array_equal(np.asfortranarray(a) @ b, exact)
    assert np.array_equal((b.conj().T @ a.conj().T).conj().T, exact)
linalg.check("numpy")
print("numpy is right")
