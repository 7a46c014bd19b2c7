"""What this machine has: backends, and the kernels of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Backend:
    """One backend that Tessera knows."""

    name: str
    built: bool  #: a plug-in of this name was found and loaded
    available: bool
    reason: str  #: why it is not available, and what to do about it
    path: str  #: the plug-in's file
    device: str  #: the processor's or card's own name
    threads: int  #: what a product uses unless it says its own number; 0 on a device
    memory: str  #: of its operands: "host" or "device"

    def __str__(self) -> str:
        if not self.available:
            return f"{self.name}: not available: {self.reason}"
        return f"{self.name}: {self.device}" + (f", {self.threads} threads" if self.threads > 1 else "")


@dataclass(frozen=True)
class Kernel:
    """One row of a backend's ladder."""

    backend: str
    name: str
    dtype: str  #: as NumPy calls it
    math: str
    canonical: bool  #: keeps the numerical contract: the same bits on every backend
    summary: str
    source: str  #: where the idea was published


def backends() -> list[Backend]:
    """Every backend that Tessera knows, in the order of preference, with the reasons of those that are absent.

    These are the built-in ones, and those whose plug-ins are in TESSERA_PLUGIN_PATH or were named in this process.

    >>> import tessera as ts
    >>> [b.available for b in ts.backends() if b.name == "reference"]
    [True]
    """
    return [Backend(*row) for row in _core.backend_rows()]


def kernels(backend: str | None = None, dtype: Any = None, math: str | None = None) -> list[Kernel]:
    """The kernels of a backend, or of all, best first; of one element type and math mode if those are given.

    A name is what gemm's ``kernel`` takes. Backends whose plug-in is there but has no device list theirs too.

    >>> import tessera as ts
    >>> [k.name for k in ts.kernels("reference", "float32")]
    ['canonical', 'gold']
    """
    names = [row[0] for row in _core.backend_rows()] if backend is None else [backend]
    rows = [Kernel(name, *row) for name in names for row in _core.kernel_rows(name)]
    wanted = None if dtype is None else dtype_name(dtype)
    return [row for row in rows if wanted in (None, row.dtype) and math in (None, row.math)]


def dtype_name(dtype: Any) -> str:
    """NumPy's name of what numpy.dtype takes, or of a library's own dtype such as torch.float32."""
    import numpy

    try:
        return str(numpy.dtype(dtype))
    except TypeError:
        return str(dtype).rpartition(".")[2]
