"""A backend of another author in Python."""

import numpy as np
import pytest

import tessera as ts


def test_it_is_listed():
    (standin,) = [backend for backend in ts.backends() if backend.name == "standin"]
    assert standin.available and standin.memory == "host" and standin.device == "stand-in"
    assert [kernel.dtype for kernel in ts.kernels("standin")] == ["float32", "float64"]


def test_it_multiplies():
    a = np.array([[1, 2], [3, 4]], dtype=np.float32)
    assert np.array_equal(ts.gemm(a, a, backend="standin"), a @ a)


def test_it_races():
    (row,) = ts.compare(np.eye(3), np.ones((3, 2)), backend="standin")
    assert (row.backend, row.kernel, row.verdict) == ("standin", "delegated", "pass")


def test_an_unknown_one_says_why():
    with pytest.raises(ts.InvalidArgument, match="did you mean 'standin'.*no libtessera_standing.so"):
        ts.gemm(np.eye(2), np.eye(2), backend="standing")
