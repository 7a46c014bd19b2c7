"""The backend of calls that name none: each program is a process of its own, which must not load the other runtime."""

import os
import subprocess
import sys

import pytest

import tessera as ts
from conftest import present

everything = """
import numpy as np
import tessera as ts

def is_loaded(part):
    with open("/proc/self/maps") as maps:
        return any(part in line for line in maps)

def everything_is_right():
    a = np.arange(120 * 90, dtype=np.float32).reshape(120, 90) % 11
    right = np.array_equal(ts.gemm(a, a.T), a @ a.T)
    z = (a + 1j).astype(np.complex64)
    right = right and np.array_equal(ts.gemm(z, z.T), z @ z.T)
    right = right and all(np.array_equal(c, a @ a.T) for c in ts.gemm_batch([a, a], [a.T, a.T]))
    bias = np.ones(120, np.float32)
    return right and np.array_equal(ts.gemm(a, a.T, bias=bias), a @ a.T + 1)

def expect_tbb_alone():
    assert is_loaded("libtessera_tbb.so"), "TBB serves nothing"
    assert not is_loaded("libtessera_openmp.so") and not is_loaded("libgomp"), "OpenMP is in the process"
"""


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", everything + program],
        env={**os.environ, "TESSERA_BACKEND": "", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def expect_success(finished):
    assert finished.returncode == 0, finished.stderr


tbb = pytest.mark.skipif("tbb" not in present(), reason="the TBB backend is missing")


@tbb
def test_the_first_product_names_the_backend_of_all():
    expect_success(run("ts.gemm(np.eye(9), np.eye(9), backend='tbb')\nassert everything_is_right()\nexpect_tbb_alone()"))


@tbb
def test_the_variable_names_it():
    expect_success(run("assert everything_is_right()\nexpect_tbb_alone()", TESSERA_BACKEND="tbb"))


@tbb
def test_a_list_of_backends_names_none():
    log = run("ts.backends()\nts.gemm(np.eye(9), np.eye(9), backend='tbb')\nts.gemm(np.eye(9), np.eye(9))", TESSERA_LOG="dispatch")
    expect_success(log)
    assert "work on the host runs on tbb, which the program named first" in log.stderr


def test_an_unknown_word_is_an_error():
    finished = run("ts.gemm(np.eye(2), np.eye(2))", TESSERA_BACKEND="tbbb")
    assert finished.returncode == 1
    assert "InvalidArgument: TESSERA_BACKEND=tbbb: unknown backend 'tbbb'; did you mean 'tbb'?" in finished.stderr
    assert "Known: auto reference openmp tbb cuda opencl" in finished.stderr


def test_nothing_falls_back_from_the_variable():
    absent = [b.name for b in ts.backends() if not b.available]
    if not absent:
        pytest.skip("all backends are available")
    finished = run("ts.gemm(np.eye(2), np.eye(2))", TESSERA_BACKEND=absent[0])
    assert finished.returncode == 1
    assert f"BackendUnavailable: TESSERA_BACKEND={absent[0]}: backend {absent[0]} is not available" in finished.stderr
    assert "set one of the available ones (auto " in finished.stderr
