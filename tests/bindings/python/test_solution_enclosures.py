"""Certificates of solutions beside numbers of 120 digits: both ratios lie in what encloses them, of real and of complex
systems, of numbers of like size and from one end of the type to the other."""

import random
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

import tessera as ts

EXACT = Context(prec=120, Emax=10**9, Emin=-(10**9))
SLACK = 1 + Decimal(10) ** -100  # of the roots of 120 digits


def number(rng, spread):
    kind = rng.random()
    if kind < 0.08:
        return 0.0
    if kind < 0.12:
        return 5e-324 * rng.randint(1, 20)
    return rng.uniform(-1, 1) * 2.0 ** rng.randint(-spread, spread)


def matrix(rng, rows, cols, spread):
    return np.array([[complex(number(rng, spread), number(rng, spread)) for _ in range(cols)] for _ in range(rows)])


def system(rng):
    n, count, spread = rng.randint(1, 4), rng.choice([1, 1, 5]), rng.choice([0, 3, 60, 500, 1000])
    a, x, b = matrix(rng, n, n, spread), matrix(rng, n, count, spread), matrix(rng, n, count, spread)
    if rng.random() < 0.6:  # nearly solved
        with np.errstate(all="ignore"):
            b = a @ x * (1 + rng.choice([0, 1e-16, 1e-12, 1]))
    parts = rng.random()
    a, x, b = (np.ascontiguousarray(one.real) if parts < limit else one for one, limit in ((a, 0.2), (x, 0.1), (b, 0.1)))
    return a, x, b


def modulus(z):
    return (Decimal(z.real) ** 2 + Decimal(z.imag) ** 2).sqrt()


def ratios(a, x, b):
    """The least changes of elements, and in norm, by their formulas."""
    elements = norm = Decimal(0)
    n = len(a)
    for j in range(x.shape[1]):
        largest = Decimal(0)
        for i in range(n):
            re, im, scale = Decimal(b[i, j].real), Decimal(b[i, j].imag), modulus(b[i, j])
            for k in range(n):
                ar, ai, xr, xi = map(Decimal, (a[i, k].real, a[i, k].imag, x[k, j].real, x[k, j].imag))
                re -= ar * xr - ai * xi
                im -= ar * xi + ai * xr
                scale += modulus(a[i, k]) * modulus(x[k, j])
            residual = (re * re + im * im).sqrt()
            elements = max(elements, residual / scale) if scale else elements
            largest = max(largest, residual)
        if largest:
            norms = [max(sum(modulus(z) for z in row) for row in a), max(map(modulus, x[:, j])), max(map(modulus, b[:, j]))]
            norm = max(norm, largest / (norms[0] * norms[1] + norms[2]))
    return elements, norm


@pytest.mark.parametrize("seed", range(5))
def test_ratios_are_enclosed(seed):
    rng = random.Random(seed)
    judged = 0
    with localcontext(EXACT), np.errstate(all="ignore"):
        for _ in range(120):
            a, x, b = system(rng)
            answer = ts.check_solve(a, x, b)
            if answer.unjudged or not np.isfinite(b).all():
                continue
            judged += 1
            elements, norm = ratios(a, x, b)
            for (least, most), exact in ((answer.by_elements, elements), (answer.by_norm, norm)):
                assert Decimal(least) <= exact * SLACK, (a, x, b)
                assert exact <= Decimal(most) * SLACK, (a, x, b)
            if answer.verdict != "unknown":
                assert answer.right == (elements <= Decimal(answer.limit)), (a, x, b)
    assert judged > 60
