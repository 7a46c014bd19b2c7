"""Is this machine sound, and what have verified products found?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from . import _core


@dataclass(frozen=True)
class HealthFinding:
    """A test whose bits differed, at one place of the machine."""

    backend: str
    device: str
    core: int  #: the number of the processor core; -1: no single core
    all_at_once: bool  #: all cores were at work; else this one alone
    test: str  #: 'product f32 strict 97x83x1100'
    kernel: str  #: '': the backend's choice
    row: int  #: of the first element that differed; -1: the whole result, by its digest
    col: int
    found: str  #: its bits, as hexadecimal digits
    expected: str
    runs: int  #: of this test at this place
    wrong: int  #: of these, runs that differed or failed


@dataclass(frozen=True)
class Health:
    """The answer of health(). It is true where the machine is sound, and prints as text."""

    findings: list[HealthFinding]
    not_tested: list[tuple[str, str]]  #: (backend, reason)
    backends: list[str]
    cores: list[int]
    rounds: int
    runs: int
    seconds: float
    text: str = field(repr=False)  #: all of it in words

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        return self.text


class VerifyCounts(NamedTuple):
    """What products that verify themselves have found in this process."""

    products: int
    wrong: int
    repaired: int
    repaired_rows: int
    repaired_elements: int


def health(seconds: float = 60, backends: Sequence[str] = ()) -> Health:
    """Examines the machine: each core alone, all at once, memory and every backend compute results whose bits are known.

    seconds: how long; 0 for one short round.
    backends: which are tested; none: every available one.

    >>> import tessera as ts
    >>> bool(ts.health(seconds=0))
    True
    """
    findings, *others = _core._health(seconds, backends)
    return Health([HealthFinding(*finding) for finding in findings], *others)


def verify_counts() -> VerifyCounts:
    """Counts the products that verified themselves (gemm's verify) in this process.

    >>> import numpy as np
    >>> import tessera as ts
    >>> before = ts.verify_counts()
    >>> ts.gemm(np.eye(2), np.eye(2), verify='repair')
    array([[1., 0.],
           [0., 1.]])
    >>> ts.verify_counts().products - before.products
    1
    """
    return VerifyCounts(*_core._verify_counts())
