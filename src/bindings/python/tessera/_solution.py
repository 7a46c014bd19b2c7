"""Certificates of solutions: is x the solution of a system near a·x = b?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._certificate import _array, _number, _straight
from ._errors import InvalidArgument


@dataclass(frozen=True)
class SolveCertificate:
    """The answer of check_solve(). It is true where the verdict is 'right', and prints as text."""

    verdict: str  #: 'right', 'wrong', or 'unknown' where NaN, Inf or overflow hides the answer
    nearness: str  #: 'elements' or 'norm', as it was chosen
    limit: float  #: as it was chosen, or by default
    by_elements: tuple[float, float]  #: encloses the least change of elements under which x is exact
    by_norm: tuple[float, float]  #: encloses the least change in the maximum norm
    row: int  #: of the element of the residual that decides; -1: all are 0
    col: int  #: of that element
    residual: float  #: b - a·x there; of complex systems its modulus
    scale: float  #: |a||x| + |b| there
    unjudged: int  #: elements of the residual that could not be judged
    text: str = field(repr=False)  #: all of it in words

    @property
    def right(self) -> bool:
        """Is the verdict 'right'?"""
        return self.verdict == "right"

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.text


def _matrix(x: Any, name: str, is_column: bool) -> tuple[Any, str]:
    array, kind = _array(x, name)
    if len(array.shape) == 1 and is_column:
        array = array.reshape(-1, 1)
    if len(array.shape) != 2:
        raise InvalidArgument(f"{name} has {len(array.shape)} dimensions; a system has matrices, or vectors for x and b")
    return _straight(array), kind


def check_solve(
    a: Any, x: Any, b: Any, *, nearness: str = "elements", limit: float = 0, threads: int | None = None
) -> SolveCertificate:
    """Says whether x is the solution of a system near a·x = b, whatever computed it.

    a: n×n; x and b: n×m, or vectors of n. Arrays as check() takes them, or complex ones, of any type of their own.
    nearness: 'elements' asks for a system each of whose elements differs from a's and b's by a small share of itself
        (Oettli and Prager); 'norm' for one that differs by little beside the largest rows, which is what solvers
        without a step of refinement promise for matrices whose rows differ in size. The answer has both numbers.
    limit: of the share, 0 for 3·(n + 10)·u with the unit roundoff u of x's type, and 2·√2 times that where one of the
        arrays is complex. The shares of complex numbers are shares of their moduli.

    >>> import numpy as np
    >>> import tessera as ts
    >>> a, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    >>> ts.check_solve(a, np.linalg.solve(a, b), b).right
    True
    >>> answer = ts.check_solve(a, np.array([0.1, 0.6]), b)
    >>> answer.verdict, answer.row
    ('wrong', 1)
    """
    operands = [_matrix(a, "a", False), _matrix(x, "x", True), _matrix(b, "b", True)]
    matrices, kinds = [one[0] for one in operands], tuple(one[1] for one in operands)
    text_of_json, text = _core._check_solve(*matrices, kinds, nearness, limit, threads)
    answer = {name: _number(value) for name, value in json.loads(text_of_json).items()}
    return SolveCertificate(
        verdict=answer["verdict"],
        nearness=answer["nearness"],
        limit=answer["limit"],
        by_elements=(_number(answer["by_elements"]["least"]), _number(answer["by_elements"]["most"])),
        by_norm=(_number(answer["by_norm"]["least"]), _number(answer["by_norm"]["most"])),
        row=answer["row"],
        col=answer["col"],
        residual=answer["residual"],
        scale=answer["scale"],
        unjudged=answer["unjudged"],
        text=text,
    )
