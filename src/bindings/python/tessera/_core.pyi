"""The part that is compiled: gemm, and what the rest of the package is made of."""

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeVar, overload

import numpy

class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: int | None = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

Array = numpy.ndarray[Any, Any] | SupportsDLPack | memoryview | ctypes.Array[Any]
Out = TypeVar("Out", bound=Array)
Matrices = Array | Sequence[Array]
OutMatrices = TypeVar("OutMatrices", bound=Matrices)

__version__: str

class DeviceArray:
    """A matrix in a device's memory, or a batch of them, for torch.from_dlpack, cupy.from_dlpack and the like."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns, after a batch's sizes."""
    @property
    def ndim(self) -> int:
        """The number of dimensions."""
    @property
    def dtype(self) -> str:
        """NumPy's name of the element type."""
    @property
    def device(self) -> int:
        """The CUDA device's number."""
    def numpy(self) -> numpy.ndarray[Any, Any]:
        """A copy in host memory, as a numpy.ndarray."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind and the number of the device, for from_dlpack."""
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The elements without a copy, for from_dlpack."""

@overload
def gemm(
    a: Array,
    b: Array,
    *,
    c: None = None,
    out: Out,
    alpha: complex = 1,
    beta: complex = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    stream: SupportsIndex | None = None,
    bias: Array | None = None,
    activation: str | None = None,
    residual: Array | None = None,
    verify: str | None = "none",
    conj_a: bool = False,
    conj_b: bool = False,
) -> Out: ...
@overload
def gemm(
    a: numpy.ndarray[Any, Any] | memoryview,
    b: numpy.ndarray[Any, Any] | memoryview,
    *,
    c: Array | None = None,
    out: None = None,
    alpha: complex = 1,
    beta: complex = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    stream: SupportsIndex | None = None,
    bias: Array | None = None,
    activation: str | None = None,
    residual: Array | None = None,
    verify: str | None = "none",
    conj_a: bool = False,
    conj_b: bool = False,
) -> numpy.ndarray[Any, Any]: ...
@overload
def gemm(
    a: SupportsDLPack,
    b: SupportsDLPack,
    *,
    c: Array | None = None,
    out: None = None,
    alpha: complex = 1,
    beta: complex = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    stream: SupportsIndex | None = None,
    bias: Array | None = None,
    activation: str | None = None,
    residual: Array | None = None,
    verify: str | None = "none",
    conj_a: bool = False,
    conj_b: bool = False,
) -> numpy.ndarray[Any, Any] | DeviceArray: ...
@overload
def gemm_batch(
    a: Matrices,
    b: Matrices,
    *,
    out: OutMatrices,
    alpha: float = 1,
    beta: float = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    verify: str | None = "none",
) -> OutMatrices: ...
@overload
def gemm_batch(
    a: numpy.ndarray[Any, Any],
    b: numpy.ndarray[Any, Any],
    *,
    out: None = None,
    alpha: float = 1,
    beta: float = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    verify: str | None = "none",
) -> numpy.ndarray[Any, Any]: ...
@overload
def gemm_batch(
    a: Matrices,
    b: Matrices,
    *,
    out: None = None,
    alpha: float = 1,
    beta: float = 0,
    backend: str | None = "auto",
    math: str | None = "strict",
    kernel: str | None = None,
    threads: SupportsIndex | None = None,
    verify: str | None = "none",
) -> numpy.ndarray[Any, Any] | list[numpy.ndarray[Any, Any]]: ...
def expect_plain(x: Any, name: str) -> None: ...
def backend_facts() -> list[tuple[str, bool, bool, str, str, str, int, str]]: ...
def promises_bits(backend: str, dtype: str, math: str) -> bool: ...
element_types: list[tuple[str, str, int, str, int, int, str, str]]
def kernel_facts(backend: str | None) -> list[tuple[str, str, str, bool, str, str]]: ...
def copies_made() -> int: ...

class Race:
    def __init__(self, a: Array, b: Array, threads: SupportsIndex | None) -> None: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def dtype(self) -> str: ...
    def run(
        self, backend: str | None, kernel: str, math: str | None, repeat: int, time_limit: float
    ) -> tuple[list[float], str, str, dict[str, float]]: ...
