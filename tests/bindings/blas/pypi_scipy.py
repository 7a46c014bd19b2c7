"""SciPy from PyPI under LD_PRELOAD: its gemm has Tessera's bits, and the kernel log shows what made them."""

import linalg
import numpy as np
from own_product import own_product
from scipy.linalg import blas

rng = np.random.default_rng(1)
for dtype, gemm in ((np.float32, blas.sgemm), (np.float64, blas.dgemm)):
    a = rng.standard_normal((123, 2077)).astype(dtype)
    b = rng.standard_normal((2077, 65)).astype(dtype)
    assert np.array_equal(gemm(1, a, b), own_product(a, b))
    assert np.array_equal(gemm(1, a.T, b, trans_a=True), own_product(a, b))
for dtype, gemm in ((np.complex64, blas.cgemm), (np.complex128, blas.zgemm)):
    a = (rng.integers(-9, 9, (123, 77)) + 1j * rng.integers(-9, 9, (123, 77))).astype(dtype)
    b = (rng.integers(-9, 9, (77, 65)) - 2j * rng.integers(-9, 9, (77, 65))).astype(dtype)
    assert np.array_equal(gemm(1, a, b), np.einsum("ip,pj->ij", a, b))  # einsum needs no BLAS
linalg.check("scipy")
print("pypi_scipy is right")
