"""float64 products by units that multiply bytes: the same bits on every backend, within the strict product's bound."""

import numpy as np
import pytest
import tessera as ts
from tessera.testing import assert_product

rng = np.random.default_rng(8)
a = rng.standard_normal((30, 1500))
b = rng.standard_normal((1500, 20))


def hosts():
    return [x.name for x in ts.backends() if x.available and x.name in ("openmp", "tbb")]


@pytest.mark.parametrize("backend", hosts())
def test_bits_are_the_references(backend):
    expected = ts.gemm(a, b, backend="reference", math="int8_units")
    assert np.array_equal(ts.gemm(a, b, backend=backend, math="int8_units"), expected)
    assert np.array_equal(ts.gemm(a, b, backend=backend, math="int8_units", threads=1), expected)
    assert_product(a, b, expected, math="int8_units")
    assert not np.array_equal(expected, ts.gemm(a, b))


def test_complex_products_have_the_mode():
    x, y = a + 1j * a[::-1], b - 2j * b[:, ::-1]
    expected = ts.gemm(x, y, backend="reference", math="int8_units")
    for backend in hosts():
        assert np.array_equal(ts.gemm(x, y, backend=backend, math="int8_units"), expected)
    assert np.allclose(expected, x @ y)


def test_a_row_does_not_depend_on_the_others():
    wild = a.copy()
    wild[3] *= np.exp2(rng.integers(-200, 200, 1500).astype(float))
    wild[7, 11] = np.nan
    whole = ts.gemm(wild, b, math="int8_units")
    for row in (0, 3, 7, 29):
        assert np.array_equal(whole[row : row + 1], ts.gemm(wild[row : row + 1], b, math="int8_units"), equal_nan=True)


def test_elements_that_whole_numbers_cannot_hold_are_strict():
    large, zero = a.copy(), b.copy()
    large[3, 0], zero[0] = 1e30, 0  # beside the large element the others of its row would vanish
    product, strict = ts.gemm(large, zero, math="int8_units"), ts.gemm(large, zero)
    assert np.array_equal(product[3], strict[3])
    assert not np.array_equal(product, strict)


def test_float32_is_refused():
    with pytest.raises(ts.KernelRejected, match="int8_units"):
        ts.gemm(a.astype("float32"), b.astype("float32"), math="int8_units")


def test_the_race_knows_the_bits():
    table = ts.compare(a, b, backend=["reference", *hosts()], math="int8_units", repeat=1)
    assert len(table) == 1 + len(hosts())
    for row in table:
        assert row.verdict == "pass" and row.max_over_bound <= 1 and row.differing_bits == 0
