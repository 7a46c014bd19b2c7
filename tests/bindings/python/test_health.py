"""Products that verify themselves, and the examination of the machine."""

import numpy as np
import pytest

import tessera as ts


@pytest.mark.parametrize("verify", ["detect", "repair"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sound_product_has_its_bits(verify, dtype):
    a = np.random.default_rng(1).random((60, 70)).astype(dtype)
    before = ts.verify_counts()
    out = np.ones((60, 60), dtype)
    ts.gemm(a, a.T, out=out, beta=2, verify=verify)
    assert np.array_equal(out, ts.gemm(a, a.T, c=np.ones((60, 60), dtype), beta=2))
    after = ts.verify_counts()
    assert after.products == before.products + 1
    assert after.wrong == before.wrong


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_sound_complex_product_has_its_bits(dtype):
    random = np.random.default_rng(1)
    a = (random.random((60, 70)) + 1j * random.random((60, 70))).astype(dtype)
    before = ts.verify_counts()
    for options in ({}, {"alpha": 1 + 2j}, {"alpha": 2, "beta": 1j, "c": np.ones((60, 60), dtype)}, {"conj_b": True}):
        assert np.array_equal(ts.gemm(a, a.T, **options, verify="repair"), ts.gemm(a, a.T, **options))
    assert ts.verify_counts().products > before.products
    assert ts.verify_counts().wrong == before.wrong


@pytest.mark.parametrize("verify", ["detect", "repair"])
def test_each_product_of_a_batch_is_verified(verify):
    random = np.random.default_rng(1)
    a, b = random.random((3, 20, 30)), random.random((30, 10))
    before = ts.verify_counts()
    assert np.array_equal(ts.gemm_batch(a, b, verify=verify), ts.gemm_batch(a, b))
    assert ts.verify_counts().products == before.products + 3
    with pytest.raises(ts.InvalidArgument, match="did you mean 'repair'"):
        ts.gemm_batch(a, b, verify="repare")


def test_what_cannot_be_verified_says_so():
    a = np.eye(3)
    with pytest.raises(ts.InvalidArgument, match="epilogue"):
        ts.gemm(a, a, activation="relu", verify="detect")
    with pytest.raises(ts.InvalidArgument, match="did you mean 'repair'"):
        ts.gemm(a, a, verify="repare")


def test_the_machine_is_examined():
    report = ts.health(seconds=0, backends=["reference"])
    assert report, str(report)
    assert report.backends == ["reference"] and report.cores and report.rounds == 1 and report.runs > 0
    assert str(report).startswith("sound: ")
    with pytest.raises(ts.InvalidArgument, match="seconds = -1"):
        ts.health(seconds=-1)
    assert issubclass(ts.DataCorruption, ts.Error) and issubclass(ts.DataCorruption, ArithmeticError)
