"""The lists of backends and kernels, and compare()."""

import dataclasses
import math

import numpy as np
import pytest

import tessera as ts
from conftest import integers, present


def test_backends():
    names = [b.name for b in ts.backends()]
    # Where OpenCL's device is a processor, Auto never takes it, and it comes last.
    assert names in (["cuda", "opencl", "openmp", "tbb", "reference"], ["cuda", "openmp", "tbb", "reference", "opencl"])
    for backend in ts.backends():
        assert bool(backend.reason) != backend.available
        assert backend.name in str(backend)


def test_kernels():
    kernels = ts.kernels("openmp", np.float32, "strict")
    assert "simd" in [one.name for one in kernels]
    assert {(one.backend, one.dtype, one.math) for one in kernels} == {("openmp", "float32", "strict")}
    assert {one.dtype for one in ts.kernels("openmp")} == {"float16", "bfloat16", "float32", "float64"}
    assert {one.backend for one in ts.kernels()} >= set(present())
    with pytest.raises(ValueError, match="did you mean 'openmp'"):
        ts.kernels("opnmp")


def test_every_row_passes():
    a, b = integers(40, 50), integers(60, 50).T
    table = ts.compare(a, b, repeat=2)
    assert {row.backend for row in table} == set(present())
    assert {row.verdict for row in table} <= {"pass", "rejected"}
    for row in table:
        if row.verdict == "rejected":
            assert row.reason and math.isnan(row.seconds)
        else:
            assert row.max_over_bound <= 1 and 0 < row.seconds_min <= row.seconds
            assert not row.canonical or row.differing_bits == 0


def test_choice():
    a, b = integers(20, 30), integers(30, 20)
    table = ts.compare(a, b, backend=["reference", "openmp"], kernels=["can*", "simd"], math="strict", repeat=1, threads=1)
    assert sorted((row.backend, row.kernel) for row in table) == [("openmp", "simd"), ("reference", "canonical")]
    with pytest.raises(ValueError, match="no kernel of openmp for float32 matches kernels = 'no_such'"):
        ts.compare(a, b, backend="openmp", kernels="no_such")
    with pytest.raises(ValueError, match="repeat = 0"):
        ts.compare(a, b, repeat=0)
    with pytest.raises(ValueError, match="columns of a"):
        ts.compare(a, a)
    with pytest.raises(TypeError, match="a holds float32, b holds float64"):
        ts.compare(a, b.astype(float))


def test_slow_kernels_are_skipped():
    a = np.ones((700, 1000), np.float32)
    (row,) = ts.compare(a, a.T, backend="reference", kernels="gold", repeat=1, time_limit=0.01)
    assert row.verdict == "skipped" and "time_limit" in row.reason and math.isnan(row.seconds)


def test_large_products_are_sampled():
    a = np.random.default_rng(1).standard_normal((700, 1500)).astype(np.float32)
    (row,) = ts.compare(a, a.T, backend="openmp", kernels="simd", math="strict", repeat=1, time_limit=0)
    assert row.verdict == "pass" and "of 700 rows, and 700 by Freivalds" in row.reason


def test_table():
    table = ts.compare(np.eye(3), np.eye(3), backend="reference", repeat=1)
    lines = repr(table).splitlines()
    assert lines[0] == "m = 3, n = 3, k = 3, float64" and len(lines) == 2 + len(table)
    assert lines[1].split()[:2] == ["backend", "kernel"]
    assert table.to_dicts() == [dataclasses.asdict(row) for row in table]
