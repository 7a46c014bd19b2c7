"""Assertions for tests of code that multiplies matrices.

>>> import numpy as np
>>> from tessera.testing import assert_product
>>> a = np.arange(12, dtype=np.float32).reshape(3, 4)
>>> assert_product(a, a.T, a @ a.T)
"""

from __future__ import annotations

from typing import Any

from ._certificate import check

__all__ = ["assert_product"]


def assert_product(
    a: Any, b: Any, c: Any, *, math: str | None = "strict", zero_may_pass: bool = False, **options: Any
) -> None:
    """Asserts that c is the product of a and b as `math` may round it; see tessera.check for the options.

    There is no tolerance to choose: each element has the bound that is proven for the mode. The message of the
    AssertionError has the verdict, the worst elements with their places, exact values and bounds, how many rows are
    beyond theirs, and what the errors look like: a transposed operand, a missing end of the sums, a constant factor, C
    that was not written, low precision. A check that could judge nothing (NaN, Inf or overflow reach all elements)
    fails as well, and so does one that a C of zeros would pass, because its bounds are larger than the product: such an
    assertion could not fail. Compute in f64 or with a smaller k, or pass zero_may_pass=True.
    """
    __tracebackhide__ = True
    answer = check(a, b, c, math=math, **options)
    if not answer.right:
        raise AssertionError("c is not the product of a and b\n" + str(answer))
    if answer.zero_would_pass and not zero_may_pass:
        raise AssertionError(
            "the assertion could not fail: a c of zeros would pass, because the bounds are larger than the product; "
            "compute in f64 or with a smaller k, or pass zero_may_pass=True\n" + str(answer)
        )
