"""Products in a process that has loaded a library made with -ffast-math, which flushes subnormal numbers."""

import os
import subprocess
import sys

import pytest

from conftest import present

LIBRARY = os.environ.get("TESSERA_TEST_FAST_MATH")

SCRIPT = """
import ctypes, sys
import numpy as np
import tessera as ts

library, backend = sys.argv[1:]
rng = np.random.default_rng(1)
x = rng.integers(1, 9, (400, 400)).astype(np.int32)
y = rng.integers(1, 9, (400, 400)).astype(np.int32)
a = x.astype(np.float32) * np.float32(2**-74)
b = y.astype(np.float32) * np.float32(2**-75)
large = x.astype(np.float32) * np.float32(2**40)
expected = x @ y  # times 2**-149, so these are the bits of the products

normal = (expected * 2.0**-109).astype(np.float32).view(np.int32)

fast_math = ctypes.CDLL(library)
if not fast_math.flushes():
    print("this processor's flushing is not known to the test")
    sys.exit(77)
for what, bits, c in [
    ("gemm", expected, ts.gemm(a, b, backend=backend)),
    ("gemm, subnormal alpha", normal, ts.gemm(large, y.astype(np.float32), alpha=2.0**-149, backend=backend)),
    ("gemm_batch", expected, ts.gemm_batch(a[None], b[None], backend=backend)[0]),
    ("complex gemm", expected, ts.gemm(a.astype(np.complex64), b.astype(np.complex64), backend=backend).real.copy()),
]:
    wrong = int((c.view(np.int32) != bits).sum())
    if wrong != 0:
        sys.exit(f"{what}: {wrong} of {bits.size} elements are wrong on {backend}")
if not fast_math.flushes():
    sys.exit("the caller's state was not kept")
"""


@pytest.mark.parametrize("backend", present())
def test_products_are_right_beside_a_library_made_with_fast_math(backend):
    if not LIBRARY:
        pytest.skip("TESSERA_TEST_FAST_MATH does not name the library; CTest sets it")
    run = subprocess.run([sys.executable, "-c", SCRIPT, LIBRARY, backend], capture_output=True, text=True)
    if run.returncode == 77:
        pytest.skip(run.stdout)
    assert run.returncode == 0, run.stderr
