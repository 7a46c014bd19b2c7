"""Certificates: is C a product of A and B as a math mode may round it?"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy

from . import _core
from ._errors import InvalidArgument
from ._types import OPAQUE


@dataclass(frozen=True)
class Element:
    """An element of C beside what it should be."""

    product: int
    row: int
    col: int
    computed: float
    exact: float
    bound: float
    over_bound: float


@dataclass(frozen=True)
class Finding:
    """What the wrong elements look like: the diagnosis by its name, a sentence, and its number where it has one."""

    diagnosis: str
    text: str
    value: float


@dataclass(frozen=True)
class Certificate:
    """The answer of check(). It is true where the verdict is 'right', and prints as text."""

    verdict: str  #: 'right', 'wrong', or 'unknown' where NaN, Inf or overflow may reach all that was looked at
    rows: int  #: rows of all results
    rows_compared: int  #: rows that were compared element by element
    rows_judged: int  #: rows that Freivalds' check judged
    vectors: int  #: random vectors of Freivalds' check; 0: it was left out
    rows_beyond: list[tuple[int, int, float]]  #: (product, row, error in bounds of the row) by Freivalds' check
    elements_beyond: int  #: compared elements beyond their bounds
    max_over_bound: float  #: largest |error| / bound of a compared element
    row_over_bound: float  #: largest error of a row in its bounds, by Freivalds' check
    probability_missed: float  #: that errors in a judged row, one of them beyond its row's bound, were missed
    blind_products: int  #: products for which a C of zeros would pass, too: the bounds are larger than they are
    worst: list[Element]  #: the worst compared elements, the worst first
    findings: list[Finding]  #: what the wrong elements look like
    error: dict[str, float]  #: max_abs, max_rel, normwise, norm_error, norm_exact, … of the compared rows
    ulps: list[tuple[float, int]]  #: (up to this distance, number of elements) from the rounded exact values
    text: str = field(repr=False)  #: all of it in words

    @property
    def right(self) -> bool:
        """Is the verdict 'right'?"""
        return self.verdict == "right"

    @property
    def zero_would_pass(self) -> bool:
        """Would a C of zeros pass for one of the products? The bounds are larger than the product then, and 'right' says
        little; f64 or a smaller k has smaller bounds."""
        return self.blind_products > 0

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.text


def _number(value: Any) -> Any:
    """JSON has no NaN and no infinities, so that they come as words."""
    return float(value) if value in ("inf", "-inf", "nan") else value


def _certificate(text_of_json: str, text: str) -> Certificate:
    answer = json.loads(text_of_json)
    error = {name: _number(value) for name, value in answer["error"].items()}
    return Certificate(
        verdict=answer["verdict"],
        rows=answer["rows"],
        rows_compared=answer["rows_compared"],
        rows_judged=answer["rows_judged"],
        vectors=answer["vectors"],
        rows_beyond=[(x["product"], x["row"], _number(x["over_bound"])) for x in answer["rows_beyond"]],
        elements_beyond=answer["elements_beyond"],
        max_over_bound=error["max_over_bound"],
        row_over_bound=_number(answer["row_over_bound"]),
        probability_missed=answer["probability_missed"],
        blind_products=answer["blind_products"],
        worst=[Element(**{name: _number(value) for name, value in x.items()}) for x in answer["worst"]],
        findings=[Finding(x["diagnosis"], x["text"], _number(x["value"])) for x in answer["findings"]],
        error=error,
        ulps=[(x["up_to"], x["elements"]) for x in answer["ulps"]],
        text=text,
    )


def _dtype_name(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]  # PyTorch's is torch.float32


def _is_cuda(x: Any) -> bool:
    return hasattr(x, "__dlpack_device__") and int(x.__dlpack_device__()[0]) in (2, 13)


def _of_buffer(x: Any) -> numpy.ndarray[Any, Any] | None:
    """The memory that an object of another kind than NumPy's exports as a buffer."""
    try:
        return numpy.asarray(memoryview(x))
    except TypeError:
        return None


def _is_matrix(x: Any) -> bool:
    return hasattr(x, "shape") or _of_buffer(x) is not None


def _array(x: Any, name: str) -> tuple[Any, str]:
    """An array as something with a buffer or DLPack, and the name of its elements' type."""
    _core.expect_plain(x, name)
    if isinstance(x, numpy.ndarray):
        if not x.dtype.isnative:
            raise TypeError(
                f"{name} holds elements of type {x.dtype}, whose bytes are in the other order than this machine's; "
                "convert it, e.g. with astype(dtype.newbyteorder('='))"
            )
        kind = _dtype_name(x)
        return (x.view(f"u{OPAQUE[kind]}") if kind in OPAQUE else x), kind
    if isinstance(x, _core.DeviceArray):
        kind = x.dtype
        return (x if kind in OPAQUE else x.numpy()), kind
    if hasattr(x, "detach") and hasattr(x, "cpu"):  # PyTorch
        x = x.detach().cpu().resolve_conj().resolve_neg()
        kind = _dtype_name(x)
        if kind in OPAQUE:
            torch = sys.modules[type(x).__module__.partition(".")[0]]
            x = x.view(torch.int16 if OPAQUE[kind] == 2 else torch.uint8)
        return x.numpy(), kind
    if hasattr(x, "__cuda_array_interface__") and hasattr(x, "get"):  # CuPy
        return _array(x.get(), name)
    if hasattr(x, "__array__") and not _is_cuda(x):  # JAX and others; a mask stays one, and is refused then
        return _array(numpy.asanyarray(x), name)
    if hasattr(x, "__dlpack__") and hasattr(x, "dtype") and len(getattr(x, "shape", ())) == 2:
        return x, _dtype_name(x)
    if hasattr(x, "__dlpack__") and not _is_cuda(x):
        return _array(numpy.from_dlpack(x), name)
    if (exported := _of_buffer(x)) is not None:  # ctypes, array, memoryview
        return _array(exported, name)
    raise TypeError(
        f"{name} must be an array (of NumPy, or anything with __dlpack__), not {type(x).__name__}; numpy.asarray makes "
        "one of lists"
    )


def _straight(x: Any) -> Any:
    """The matrix itself if its rows or columns are contiguous, else a copy."""
    if not isinstance(x, numpy.ndarray) or x.size == 0:
        return x
    (rows, cols), (by_row, by_col), element = x.shape, x.strides, x.itemsize
    by_rows = (cols == 1 or by_col == element) and (rows == 1 or (by_row >= cols * element and by_row % element == 0))
    by_cols = (rows == 1 or by_row == element) and (cols == 1 or (by_col >= rows * element and by_col % element == 0))
    return x if by_rows or by_cols else numpy.ascontiguousarray(x)


class _Matrices:
    """An argument: one matrix, which may stand for all products, or one for each product."""

    def __init__(self, x: Any, name: str, vectors: bool = False):
        self.name, self.many = name, isinstance(x, (list, tuple)) and len(x) > 0 and _is_matrix(x[0])
        self.all: list[Any] = []
        self.kinds: set[str] = set()
        for one in x if self.many else [x]:
            array, kind = _array(one, name)
            self.kinds.add(kind)
            dimensions = len(array.shape)
            if dimensions == 1 and vectors:
                array, dimensions = array.reshape(1, -1), 2
            if dimensions == 3 and not self.many:
                self.many = True
                self.all = [_straight(matrix) for matrix in array]
                return
            if dimensions != 2:
                raise InvalidArgument(f"{name} has {dimensions} dimensions; a product has 2, and a batch of products 3")
            self.all.append(_straight(array))

    def kind(self) -> str:
        if len(self.kinds) > 1:
            raise InvalidArgument(f"{self.name} holds elements of types {', '.join(sorted(self.kinds))}; a batch has one type")
        return next(iter(self.kinds))


def check(
    a: Any,
    b: Any,
    c: Any,
    *,
    math: str | None = "strict",
    alpha: float = 1,
    beta: float = 0,
    c_before: Any = None,
    bias: Any = None,
    activation: str | None = None,
    residual: Any = None,
    seed: int = 1,
    rows: int = 0,
    vectors: int = 0,
    threads: int | None = None,
) -> Certificate:
    """Says whether c is activation(alpha·a·b + beta·c_before + bias) + residual as `math` may round it.

    a, b, c: matrices, or for a batch arrays of three dimensions or lists of matrices; one a or b may stand for all
        products. Arrays of NumPy, PyTorch, CuPy, JAX, or others that export a buffer or DLPack, in host memory or on a
        GPU. Elements of a and b: float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2 or int8; c has their
        type, or float32 for narrower ones, float16 or bfloat16 for float32 and 8-bit ones, or int32 for int8.
    c_before: c as it was before the product, where beta is not 0. It also helps to say what is wrong.
    bias: n numbers for the columns, or m×1 for the rows; activation: 'relu' or 'gelu'; residual: like c.
    rows: rows to compare element by element, 0 for as many as are cheap; vectors: random vectors of Freivalds' check
        over all rows, 0 for 16, -1 for none. docs/certificate.md says what each of them finds.

    >>> import numpy as np
    >>> import tessera as ts
    >>> a, b = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    >>> ts.check(a, b, a @ b).right
    True
    >>> answer = ts.check(a, b, 2 * (a @ b))
    >>> answer.verdict, answer.worst[0].computed, answer.worst[0].exact, answer.findings[0].diagnosis
    ('wrong', 8.0, 4.0, 'factor')
    """
    named = {
        "a": _Matrices(a, "a"),
        "b": _Matrices(b, "b"),
        "c": _Matrices(c, "c"),
        "c_before": None if c_before is None else _Matrices(c_before, "c_before"),
        "bias": None if bias is None else _Matrices(bias, "bias", vectors=True),
        "residual": None if residual is None else _Matrices(residual, "residual"),
    }
    counts = {name: len(x.all) for name, x in named.items() if x is not None and x.many}
    count = max(counts.values(), default=1)
    for name, its in counts.items():
        if its != count:
            raise InvalidArgument(f"{name} holds {its} matrices, but there are {count} products")
    if counts and not named["c"].many:
        raise InvalidArgument(f"c is one matrix, but there are {count} products")
    for name in ("c_before", "bias", "residual"):
        if named[name] is not None and named[name].kind() != named["c"].kind():
            raise InvalidArgument(
                f"{name} holds {named[name].kind()}, c holds {named['c'].kind()}; convert one of them, for nothing is "
                "converted unasked"
            )
    products = [
        tuple(None if x is None else x.all[p if x.many else 0] for x in named.values()) for p in range(count)
    ] if count else []
    types = tuple(named[name].kind() for name in ("a", "b", "c"))
    return _certificate(*_core._check(products, types, math, alpha, beta, activation, seed, rows, vectors, threads))
