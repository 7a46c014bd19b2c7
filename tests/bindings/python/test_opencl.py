"""The OpenCL backend by its name, on whatever device there is."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tessera as ts
from conftest import integers


@pytest.fixture
def opencl():
    """Skips where there is no OpenCL device, visibly; fails if it is required."""
    info = next(b for b in ts.backends() if b.name == "opencl")
    if not info.available:
        required = "opencl" in os.environ.get("TESSERA_REQUIRE", "").split(",")
        (pytest.fail if required else pytest.skip)(str(info))
    return info


def run(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", "import numpy as np, tessera as ts\n" + code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_the_backend_says_what_it_is(opencl):
    assert opencl.memory == "device"
    assert opencl.device
    assert opencl.path.endswith("libtessera_opencl.so")
    assert opencl.device in str(opencl)
    assert {k.dtype for k in ts.kernels("opencl", math="strict")} == {"float16", "bfloat16", "float32", "float64"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64, np.complex128])
def test_products_have_the_bits_of_the_reference(opencl, dtype):
    generator = np.random.default_rng(1)
    a = generator.standard_normal((70, 1100)).astype(dtype)
    b = generator.standard_normal((60, 1100)).astype(dtype).T
    assert np.array_equal(ts.gemm(a, b, backend="opencl"), ts.gemm(a, b, backend="reference"))


def test_the_full_form_and_a_batch(opencl):
    a, b, c = integers(20, 30), integers(30, 10, seed=2), integers(20, 10, seed=3)
    out = ts.gemm(a, b, alpha=2, beta=-1, c=c, backend="opencl")
    assert np.array_equal(out, 2 * (a @ b) - c)
    stack = np.stack([integers(12, 9, seed=s) for s in range(5)])
    assert np.array_equal(ts.gemm_batch(stack, np.swapaxes(stack, 1, 2), backend="opencl"), stack @ np.swapaxes(stack, 1, 2))


def test_streams_are_cuda_s(opencl):
    with pytest.raises(ts.InvalidArgument, match="a is in host memory"):
        ts.gemm(integers(4, 4), integers(4, 4), backend="opencl", stream=0)


def test_without_a_loader():
    missing = "/nonexistent/libOpenCL.so.1"
    finished = run(
        "print(next(b for b in ts.backends() if b.name == 'opencl'))\n"
        "try:\n    ts.gemm(np.eye(3), np.eye(3), backend='opencl')\n"
        "except ts.BackendUnavailable as error:\n    print(error)",
        TESSERA_OPENCL_LIBRARY=missing,
    )
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "opencl" in line
        if "built without OpenCL" not in line:
            assert missing in line and "unset it" in line


def test_a_forked_child_is_refused(opencl):
    finished = run(
        "import os\nts.gemm(np.eye(3), np.eye(3), backend='opencl')\n"
        "if os.fork() == 0:\n"
        "    try:\n        ts.gemm(np.eye(3), np.eye(3), backend='opencl')\n"
        "    except ts.BackendUnavailable as error:\n        print('child:', error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()"
    )
    assert finished.returncode == 0, finished.stderr
    assert "child: " in finished.stdout and "'spawn'" in finished.stdout
