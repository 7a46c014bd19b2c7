"""Asks the program's libblas.so.3 which file has a routine, and calls what Tessera does not have through NumPy.

blas_files.py tessera|none FILE: cblas_dgemm and dgemm_ are Tessera's or are not, and cblas_ddot is in a file whose path
has FILE in it.
"""

import ctypes
import os
import sys

import numpy as np


class Found(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("address", ctypes.c_void_p)]


def file_of(routine):
    found = Found()
    address = ctypes.cast(getattr(ctypes.CDLL("libblas.so.3"), routine), ctypes.c_void_p)
    assert ctypes.CDLL(None).dladdr(address, ctypes.byref(found)) != 0
    return os.path.realpath(found.file.decode())


products, rest = sys.argv[1:]
for routine in ("cblas_dgemm", "dgemm_"):
    print(routine, "is in", file_of(routine))
    assert ("libtessera_blas.so" in file_of(routine)) == (products == "tessera")
for routine in ("cblas_ddot", "dtrsm_", "cblas_ssyrk"):
    print(routine, "is in", file_of(routine))
    assert rest in file_of(routine)

rng = np.random.default_rng(1)
a = rng.integers(-9, 9, (60, 60)).astype(float)
x = rng.integers(-9, 9, 60).astype(float)
assert np.array_equal(a @ x, (a * x).sum(axis=1))  # gemv
assert np.dot(x, x) == (x * x).sum()
assert np.array_equal(a @ a.T, np.einsum("ip,jp->ij", a, a))  # syrk
spd = a @ a.T + 60 * np.eye(60)
for left, right in (
    (spd @ np.linalg.solve(spd, x), x),
    (spd @ np.linalg.inv(spd), np.eye(60)),
    (np.linalg.cholesky(spd) @ np.linalg.cholesky(spd).T, spd),
    (np.matmul(*np.linalg.qr(spd)), spd),
    (spd @ np.linalg.eigh(spd)[1], np.linalg.eigh(spd)[1] * np.linalg.eigh(spd)[0]),
):
    assert np.allclose(left, right)
u, s, vt = np.linalg.svd(a)
assert np.allclose((u * s) @ vt, a)
print("the rest of the BLAS is right")
