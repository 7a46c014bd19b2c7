"""NumPy from PyPI under LD_PRELOAD: its products have Tessera's bits, and the kernel log shows what made them."""

import linalg
import numpy as np
from own_product import own_product

rng = np.random.default_rng(1)
for dtype in (np.float32, np.float64):
    a = rng.standard_normal((123, 2077)).astype(dtype)
    b = rng.standard_normal((2077, 65)).astype(dtype)
    own = own_product(a, b)
    assert np.array_equal(a @ b, own)
    assert np.array_equal(np.dot(np.asfortranarray(a), b), own)
    assert np.array_equal((b.T @ a.T).T, own)
for dtype in (np.complex64, np.complex128):
    a = (rng.integers(-9, 9, (123, 77)) + 1j * rng.integers(-9, 9, (123, 77))).astype(dtype)
    b = (rng.integers(-9, 9, (77, 65)) - 2j * rng.integers(-9, 9, (77, 65))).astype(dtype)
    assert np.array_equal(a @ b, np.einsum("ip,pj->ij", a, b))  # einsum needs no BLAS
linalg.check("numpy")
print("pypi_numpy is right")
