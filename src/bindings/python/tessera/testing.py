"""Assertions for tests of code that multiplies matrices or solves linear systems.

>>> import numpy as np
>>> from tessera.testing import assert_product
>>> a = np.arange(12, dtype=np.float32).reshape(3, 4)
>>> assert_product(a, a.T, a @ a.T)
>>> from tessera.testing import assert_solution
>>> system = np.array([[2.0, 1.0], [1.0, 3.0]])
>>> assert_solution(system, np.linalg.solve(system, [1.0, 2.0]), np.array([1.0, 2.0]))
"""

from __future__ import annotations

from typing import Any

from ._certificate import check
from ._solution import check_solve

__all__ = ["assert_product", "assert_solution"]


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


def assert_solution(a: Any, x: Any, b: Any, *, nearness: str = "elements", **options: Any) -> None:
    """Asserts that x is the solution of a system near a·x = b; see tessera.check_solve for what near means, and the
    options.

    No reference solution is needed, and a may be ill conditioned: what is judged is the solver, not the system. The
    message of the AssertionError has the distance of the nearest system, the limit, and the element that decides. A
    check that could judge nothing (NaN, Inf or overflow) fails as well.
    """
    __tracebackhide__ = True
    answer = check_solve(a, x, b, nearness=nearness, **options)
    if not answer.right:
        raise AssertionError("x is not a solution of a system near a·x = b\n" + str(answer))
