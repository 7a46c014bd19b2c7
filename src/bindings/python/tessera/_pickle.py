"""Compiled functions for pickle and copy: like functions of Python, they are their names."""

from __future__ import annotations

import copyreg
from typing import Any

from . import _core


def _name(function: Any) -> str:
    return function.__name__


def announce() -> None:
    """Tells pickle, and so multiprocessing, joblib and dask, how to name functions of _core.

    Their type is nanobind's, in a domain of our own, so that nothing is said of other packages' functions.
    """
    copyreg.pickle(type(_core.gemm), _name)
