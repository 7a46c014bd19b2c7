"""Comparison of kernels on one product: their times and their errors."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from . import _core
from ._errors import InvalidArgument
from ._inventory import Kernel, backends as all_backends, kernels as all_kernels


@dataclass(frozen=True)
class Row:
    """One kernel's result. A number that was not measured is NaN.

    A field has the name of gemm_compare's column where that has one. An error of include/tessera/checking/compare.hpp's
    error_numbers is shown if it has a field here.
    """

    backend: str  #: the backend that computed
    kernel: str  #: its name in the backend's ladder
    math: str  #: the mode that it computed in
    canonical: bool  #: keeps the numerical contract of its mode
    verdict: str  #: pass, wrong, rejected, skipped or failed
    seconds: float  #: median of the timed runs
    seconds_min: float  #: shortest of the timed runs
    gflops: float  #: from the median time
    total_abs: float  #: Σ|Δ| against the reference, rounded to the element type
    max_rel: float  #: largest relative error
    mean_rel: float  #: mean relative error
    max_over_bound: float  #: largest error ÷ its proven bound: at most 1 for a correct kernel
    differing_bits: float  #: elements without the bits of the numerical contract
    reason: str  #: why it was rejected, skipped or is wrong; or a remark


class Table(list[Row]):
    """Rows of a comparison: a list that prints as a table. pandas.DataFrame(table) takes it as it is."""

    def __init__(self, rows: Iterable[Row] = (), title: str = ""):
        super().__init__(rows)
        self.title = title  #: the line above the table

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each row as a dictionary, for libraries that do not know dataclasses."""
        return [asdict(row) for row in self]

    def __repr__(self) -> str:
        head = [field.name for field in fields(Row)]
        lines = [head] + [[_shown(value) for value in asdict(row).values()] for row in self]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join(([self.title] if self.title else []) + text)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return str(value)


def compare(
    a: _core.Array,
    b: _core.Array,
    *,
    backend: str | Iterable[str] | None = None,
    kernels: str | Iterable[str] = "*",
    math: str | Iterable[str] | None = None,
    repeat: int = 5,
    time_limit: float = 1.0,
    threads: int | None = None,
) -> Table:
    """Multiplies a by b with every kernel that this machine can run, or with chosen ones; times and checks each.

    a, b: matrices in host memory, as gemm takes them. Devices get copies, which are not timed.
    backend: one or several; None: all that are available. A named one that is not available is an error.
    kernels: names or patterns such as 'simd*'. A pattern that matches nothing is an error.
    math: one mode or several; None: all.
    repeat: timed runs of each kernel, after a warm-up.
    time_limit: seconds; a kernel whose run is expected to take longer is skipped. 0: no limit.

    Errors are measured against a reference in higher precision and compared with a proven bound. Of large products some
    rows are compared so, and Freivalds' check tests the whole.

    >>> import numpy as np
    >>> import tessera as ts
    >>> table = ts.compare(np.eye(3), np.ones((3, 2)), backend="reference", math="strict")
    >>> [(row.kernel, row.verdict, row.max_rel) for row in table]
    [('canonical', 'pass', 0.0), ('gold', 'pass', 0.0)]
    """
    try:
        repeat = operator.index(repeat)
    except TypeError:
        raise TypeError(f"repeat must be a whole number, not {type(repeat).__name__}") from None
    if not 1 <= repeat < 2**31:
        raise InvalidArgument(f"repeat = {repeat}; pass the number of runs, at least 1")
    race = _core.Race(a, b, threads)
    named = _words(backend)
    names = named or [known.name for known in all_backends() if known.available]
    modes = _words(math)
    chosen = [kernel for name in names for kernel in _matching(name, race.dtype, modes, _words(kernels))]
    if not chosen:
        raise InvalidArgument(
            f"no kernel of {', '.join(names)} for {race.dtype} matches kernels = {kernels!r}, math = {math!r}"
        )
    m, n, k = race.shape
    rows = [_row(race, kernel, 2.0 * m * n * k, repeat, time_limit) for kernel in chosen]
    return Table(rows, f"m = {m}, n = {n}, k = {k}, {race.dtype}")


def _words(given: str | Iterable[str] | None) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _matching(backend: str, dtype: str, modes: list[str], patterns: list[str]) -> list[Kernel]:
    return [
        kernel
        for kernel in all_kernels(backend, dtype)
        if (not modes or kernel.math in modes) and any(fnmatchcase(kernel.name, pattern) for pattern in patterns)
    ]


def _row(race: _core.Race, kernel: Kernel, operations: float, repeat: int, time_limit: float) -> Row:
    runs, verdict, reason, errors = race.run(kernel.backend, kernel.name, kernel.math, repeat, time_limit)
    nan = float("nan")
    median = statistics.median(runs) if runs else nan
    known: dict[str, Any] = dict(
        backend=kernel.backend,
        kernel=kernel.name,
        math=kernel.math,
        canonical=kernel.canonical,
        verdict=verdict,
        seconds=median,
        seconds_min=min(runs, default=nan),
        gflops=operations / median * 1e-9 if median > 0 else nan,
        reason=reason,
        **errors,
    )
    return Row(**{field.name: known.get(field.name, nan) for field in fields(Row)})
