"""Functions, answers and exceptions in other processes: pickle, copy, pools with spawn."""

import concurrent.futures
import copy
import functools
import multiprocessing
import pickle

import numpy as np
import pytest

import tessera as ts
import tessera.dask
import tessera.testing
from conftest import integers

a, b = integers(3, 4), integers(4, 2, seed=2)
public = [getattr(ts, name) for name in ts.__all__] + [tessera.dask.matmul, tessera.testing.assert_product]


@pytest.mark.parametrize("value", public, ids=lambda x: getattr(x, "__name__", str(x)))
def test_public_names(value):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again is value or again == value
    assert copy.copy(value) is value and copy.deepcopy(value) is value
    if value is ts.gemm:
        half = pickle.loads(pickle.dumps(functools.partial(value, a, alpha=2)))
        assert np.array_equal(half(b), 2 * (a @ b))


def test_nothing_is_said_of_other_functions():
    """The type whose pickling is defined is nanobind's for this package alone."""
    import copyreg

    ours = [kind for kind in copyreg.dispatch_table if kind.__module__.startswith("nanobind")]
    assert ours == [type(ts.gemm)]
    assert type(ts.gemm) is type(ts.gemm_batch)


def test_answers():
    table = ts.compare(a, b, backend="reference", math="strict", repeat=1)
    for value in (ts.check(a, b, a @ b), ts.backends(), ts.kernels("reference"), table):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert repr(again) == repr(value) and type(again) is type(value)
    assert pickle.loads(pickle.dumps(table)).title == table.title


errors = [ts.Error, ts.InvalidArgument, ts.KernelRejected, ts.BackendUnavailable, ts.OutOfMemory, ts.DeviceError, ts.IoError, ts.InternalError, ts.DataCorruption]


@pytest.mark.parametrize("kind", errors)
def test_exceptions(kind):
    again = pickle.loads(pickle.dumps(kind("a is 3×4")))
    assert type(again) is kind and str(again) == "a is 3×4" and again.args == ("a is 3×4",)


@pytest.mark.parametrize("context", ["spawn", "fork", "forkserver"])
def test_pools(context):
    with multiprocessing.get_context(context).Pool(2) as pool:
        assert np.array_equal(pool.apply(ts.gemm, (a, b)), a @ b)
        assert all(np.array_equal(c, a @ b) for c in pool.starmap(ts.gemm, [(a, b)] * 5))
        assert np.array_equal(pool.apply(ts.gemm_batch, ([a, a], b))[1], a @ b)
        assert pool.apply(ts.check, (a, b, a @ b)).right
        with pytest.raises(ts.InvalidArgument, match="a is 3×4 and b is 3×4"):
            pool.apply(ts.gemm, (a, a))
        with pytest.raises(ts.InvalidArgument, match="threads = -1"):
            pool.apply(functools.partial(ts.gemm, threads=-1), (a, b))
        assert np.array_equal(pool.apply(ts.gemm, (a, b)), a @ b)  # the pool has survived


def test_executor():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert np.array_equal(pool.submit(ts.gemm, a, b, threads=1).result(), a @ b)
        assert isinstance(pool.submit(ts.gemm, a, a).exception(), ts.InvalidArgument)
        assert np.array_equal(pool.submit(ts.gemm, a, b).result(), a @ b)


def test_cloudpickle():
    cloudpickle = pytest.importorskip("cloudpickle")
    assert pickle.loads(cloudpickle.dumps(ts.gemm)) is ts.gemm
    assert np.array_equal(pickle.loads(cloudpickle.dumps(lambda x: ts.gemm(x, b)))(a), a @ b)


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array, Index, int])
def test_whole_numbers(kind, tmp_path):
    one, two = kind(1), kind(2)
    assert np.array_equal(ts.gemm(a, b, threads=one), a @ b)
    assert np.array_equal(ts.gemm_batch([a], b, threads=two)[0], a @ b)
    assert ts.check(a, b, a @ b, threads=one, seed=two, rows=two, vectors=two).right
    assert ts.compare(a, b, backend="reference", math="strict", repeat=two, threads=one)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    limit = kind(16 << 20) if kind not in (np.int8, np.uint8) else 16 << 20
    ts.multiply_files(tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.npy", memory_limit=limit, threads=two)
    assert np.array_equal(np.load(tmp_path / "c.npy"), a @ b)


@pytest.mark.parametrize("kind", [float, str, np.float64, complex, lambda x: [x]])
def test_what_is_no_whole_number(kind):
    for call in (
        lambda x: ts.gemm(a, b, threads=x),
        lambda x: ts.gemm_batch([a], b, threads=x),
        lambda x: ts.check(a, b, a @ b, threads=x),
        lambda x: ts.check(a, b, a @ b, seed=x),
        lambda x: ts.compare(a, b, threads=x),
        lambda x: ts.compare(a, b, repeat=x),
        lambda x: ts.multiply_files("a.npy", "b.npy", "c.npy", memory_limit=x),
        lambda x: ts.multiply_files("a.npy", "b.npy", "c.npy", memory_limit=1, backend="reference", devices=[x]),
    ):
        with pytest.raises(TypeError, match="threads|seed|repeat|memory_limit|devices"):
            call(kind(1))


def test_numbers_out_of_range():
    for value in (np.int64(0), np.int64(-1), Index(2**40), 2**70, Index(2**70)):
        with pytest.raises(ValueError, match="threads = "):
            ts.gemm(a, b, threads=value)
