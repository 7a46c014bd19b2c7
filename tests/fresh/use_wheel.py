"""Uses a wheel of Tessera that is installed in this Python's environment, as a user would.

use_wheel.py products                    the same bits on every backend that can be used here
use_wheel.py second LIBTESSERA           another copy of libtessera in this process
use_wheel.py lens COMPILER-OR-NONE       gemm_compare --lens, which needs g++ and binutils: this program is g++ or another
                                         name for it, and its folder has binutils; "none": what is said without
use_wheel.py commands [FAKE-DRIVER]      the programs, and what they say of CUDA: without a driver, and with the driver
                                         in this folder, which says that it is too old
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import tessera as ts

package = Path(ts.__file__).parent


def products() -> None:
    a = np.random.default_rng(1).standard_normal((150, 130)).astype(np.float32)
    want = ts.gemm(a, a.T, backend="reference")
    usable = [backend.name for backend in ts.backends() if backend.available]
    assert {"reference", "openmp", "tbb"} <= set(usable), [str(backend) for backend in ts.backends()]
    for backend in usable:
        assert np.array_equal(ts.gemm(a, a.T, backend=backend), want), backend
    assert np.allclose(want, a @ a.T, atol=1e-3)
    z = a.astype(np.complex64)
    assert np.allclose(ts.gemm(z, z.T, alpha=np.complex64(2j), conj_a=True), 2j * (z.conj() @ z.T), atol=1e-3)
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}: {', '.join(usable)} give the same bits")


def second(path: str) -> None:
    a = np.ones((70, 80))
    ts.gemm(a, a.T, backend="openmp")
    other = ctypes.CDLL(path)
    other.tessera_last_error.restype = ctypes.c_char_p
    backend = ctypes.c_int()
    assert other.tessera_find_backend(b"openmp", ctypes.byref(backend)) == 0
    assert other.tessera_backend_available(backend) == 0, other.tessera_last_error()
    ts.gemm(a, a.T, backend="tbb")
    files = {line.split()[-1] for line in open("/proc/self/maps") if "libtessera" in line}
    assert sum(file.endswith("libtessera_openmp.so") for file in files) == 2, files
    print("a second libtessera in the process works beside the wheel's")


def printed(*command: str, **variables: str) -> str:
    """What a command prints; it must succeed. Programs of the environment are found on PATH, as users start them."""
    program = sys.executable if command[0] == "python" else shutil.which(command[0])
    assert program, f"{command[0]} is not on PATH: {os.environ['PATH']}"
    ran = subprocess.run([program, *command[1:]], env=os.environ | variables, capture_output=True, text=True)
    assert ran.returncode == 0, f"{' '.join(command)}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def lens(compiler: str) -> None:
    program, seen = shutil.which("gemm_compare"), ("--lens", "float4", "--shape", "40x30x20")
    assert program
    if compiler == "none":
        ran = subprocess.run([program, *seen], capture_output=True, text=True)
        assert ran.returncode == 2 and "no compiler" in ran.stderr and "apt install g++" in ran.stderr, ran.stderr
        print(f"the lens says: {ran.stderr.strip()}")
        return
    path = f"{os.environ['PATH']}{os.pathsep}{Path(compiler).parent}"
    said = printed("gemm_compare", *seen, PATH=path, CXX=compiler)
    assert "product: right" in said, said
    print("the lens runs a rung with what the wheel has")


def line_of(backend: str, text: str) -> str:
    """What tessera_info says of a backend."""
    lines = [line for line in text.splitlines() if line.split()[:1] == [backend]]
    assert lines, f"tessera_info does not name {backend}:\n{text}"
    return lines[0]


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def commands(fake_driver: str | None = None) -> None:
    for command in (["gemm_compare"], ["python", "-m", "tessera", "compare"]):
        table = printed(*command, "--cpu", "--sizes", "64")
        assert {"reference", "openmp", "tbb"} <= {line.split()[0] for line in table.splitlines() if line.split()}, table
    for command in (["tessera_info"], ["python", "-m", "tessera", "info"]):
        said = printed(*command, "--no-kernels")
        assert " available" in line_of("openmp", said), said
    listed = json.loads(printed("gemm_compare", "--list", "--json", "-"))["kernels"]
    rungs = {kernel["kernel"] for kernel in listed if kernel["backend"] == "cuda" and kernel["op"] == "gemm"}
    if not (package / "libtessera_cuda.so").exists():
        assert not rungs and "no libtessera_cuda.so" in said, said
        print("the programs work; the wheel has no CUDA code")
        return
    assert {"naive_coalesced", "wgmma_fp16", "cublas"} <= rungs, rungs
    if has_driver():
        print(f"the programs work and list {len(rungs)} rungs of CUDA; skipped: this machine has a driver")
        return
    assert "no NVIDIA driver: libcuda.so.1" in said and "no libtessera_cuda.so" not in said, said
    print(f"the programs work, list {len(rungs)} rungs of CUDA, and say: {' '.join(line_of('cuda', said).split())}")
    if fake_driver is None:
        print("skipped: no compiler for a driver that is too old")
        return
    old_driver = {"LD_LIBRARY_PATH": fake_driver, "FAKE_DRIVER_VERSION": "12040"}
    said = printed("python", "-m", "tessera", "info", "--no-kernels", **old_driver)
    assert "too old: it supports CUDA 12.4, this plug-in needs CUDA" in said and "update the driver" in said, said
    print(f"with an old driver: {' '.join(line_of('cuda', said).split())}")


if __name__ == "__main__":
    {"products": products, "second": second, "commands": commands, "lens": lens}[sys.argv[1]](*sys.argv[2:])
