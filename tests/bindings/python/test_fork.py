"""Processes that multiprocessing forks multiply, after the parent has multiplied with threads."""

import multiprocessing

import numpy as np
import pytest

import tessera as ts
from conftest import integers


def multiply(name):
    return ts.gemm(integers(200, 300), integers(300, 250), backend=name, threads=3)


@pytest.mark.parametrize("name", ["auto", "openmp", "tbb"])
def test_forked_workers_multiply(name):
    try:
        expected = multiply(name)
    except ts.BackendUnavailable as missing:
        pytest.skip(str(missing))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(multiply, [name] * 4).get(timeout=60)  # a worker that hangs is ended
    assert all(np.array_equal(c, expected) for c in results)
