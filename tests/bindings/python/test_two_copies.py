"""Two copies of libtessera in one process, and cuBLAS in Python's packages. Each case is a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tessera as ts

library = Path(ts.__file__).parent.parent.parent / "lib"

second_copy = """
import ctypes, sys
import numpy as np
import tessera as ts

second = ctypes.CDLL(sys.argv[1])
second.tessera_last_error.restype = ctypes.c_char_p
number = ctypes.c_int()
assert second.tessera_find_backend(b"openmp", ctypes.byref(number)) == 0
reference = ctypes.c_int()
assert second.tessera_find_backend(b"reference", ctypes.byref(reference)) == 0
assert second.tessera_backend_available(reference) == 0
print(second.tessera_backend_available(number), second.tessera_last_error().decode())
a = np.random.default_rng(1).standard_normal((60, 70))
assert np.array_equal(ts.gemm(a, a.T, backend="openmp"), ts.gemm(a, a.T, backend="reference"))
"""


def run(script, *arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TESSERA_CUBLAS")}
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=environment | variables, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_plugin_that_the_loader_binds_to_the_other_copy_is_refused(tmp_path):
    if not (library / "libtessera_openmp.so").exists():
        pytest.skip("there is no OpenMP plug-in")
    copy = tmp_path / "libtessera.so.0"
    shutil.copy(library / "libtessera.so.0", copy)
    shutil.copy(library / "libtessera_openmp.so", tmp_path)
    said = run(second_copy, str(copy))
    assert said.startswith("3 ")  # TESSERA_UNAVAILABLE
    for part in [
        f"cannot use {tmp_path}/libtessera_openmp.so: this process has two copies of libtessera",
        f"{library}/libtessera.so.0",
        f"not to this one, {copy}; load only one of them",
    ]:
        assert part in said


announced = "import os, tessera; print(os.environ.get('TESSERA_CUBLAS_PATH'))"


@pytest.fixture
def packages(tmp_path):
    """A folder like site-packages with nvidia-cublas and nvidia-cublas-cu12."""
    for folder, version in [("cu13", "13"), ("cublas", "12")]:
        place = tmp_path / "nvidia" / folder / "lib"
        place.mkdir(parents=True)
        (place / f"libcublas.so.{version}").touch()
    return tmp_path


def test_cublas_of_the_packages_is_announced(packages):
    path = f"{packages}:{os.environ.get('PYTHONPATH', '')}"
    assert run(announced, PYTHONPATH=path) == f"{packages}/nvidia/cu13/lib:{packages}/nvidia/cublas/lib\n"


def test_what_the_user_names_stays(packages):
    path = f"{packages}:{os.environ.get('PYTHONPATH', '')}"
    assert run(announced, PYTHONPATH=path, TESSERA_CUBLAS="/my/libcublas.so.13") == "None\n"
    assert run(announced, PYTHONPATH=path, TESSERA_CUBLAS_PATH="/my") == "/my\n"


def test_the_programs_of_the_package():
    program = [sys.executable, "-m", "tessera"]
    ran = subprocess.run([*program, "compare", "--help"], capture_output=True, text=True)
    if "TESSERA_BUILD_APPS" in ran.stderr:
        pytest.skip("the programs were not built")
    assert ran.returncode == 0 and "--kernels" in ran.stdout
    ran = subprocess.run([*program, "no-such-command"], capture_output=True, text=True)
    assert ran.returncode == 2 and "usage: python -m tessera compare" in ran.stderr
