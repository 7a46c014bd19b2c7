"""The backends of this machine, and the kernels of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Backend:
    """One backend that Tessera knows."""

    name: str  #: as gemm's backend takes it
    built: bool  #: a plug-in of this name was found and loaded
    available: bool  #: a product can be computed with it
    reason: str  #: why it is not available, and what to do about it
    path: str  #: the plug-in's file
    device: str  #: name of the processor or GPU
    threads: int  #: used by a product that names no number; 0 on a device
    memory: str  #: place of its operands: "host" or "device"

    def __str__(self) -> str:
        if not self.available:
            return f"{self.name}: not available: {self.reason}"
        return f"{self.name}: {self.device}" + (f", {self.threads} threads" if self.threads > 1 else "")


@dataclass(frozen=True)
class Kernel:
    """One kernel of a backend's ladder."""

    backend: str  #: the backend whose ladder it is on
    name: str  #: as gemm's kernel takes it
    dtype: str  #: NumPy's name of the element type
    math: str  #: the mode that it computes in
    canonical: bool  #: keeps the numerical contract of its mode: its bits are known
    summary: str  #: one line on the idea
    source: str  #: where the idea was published


def backends() -> list[Backend]:
    """Every backend that Tessera knows, in the order of preference; an absent one has the reason.

    These are the built-in backends, the plug-ins in the folders of TESSERA_PLUGIN_PATH, and plug-ins that were named.

    >>> import tessera as ts
    >>> [b.available for b in ts.backends() if b.name == "reference"]
    [True]
    """
    return [Backend(*facts) for facts in _core.backend_facts()]


def kernels(backend: str | None = None, dtype: Any = None, math: str | None = None) -> list[Kernel]:
    """The kernels of a backend, or of all, best first; of one element type and math mode if they are given.

    gemm's ``kernel`` takes these names. A backend whose plug-in is present but has no device lists its kernels too.

    >>> import tessera as ts
    >>> [k.name for k in ts.kernels("reference", "bfloat16")]
    ['canonical', 'hopper_units', 'gold']
    """
    names = [facts[0] for facts in _core.backend_facts()] if backend is None else [backend]
    every = [Kernel(name, *facts) for name in names for facts in _core.kernel_facts(name)]
    wanted = None if dtype is None else dtype_name(dtype)
    return [kernel for kernel in every if wanted in (None, kernel.dtype) and math in (None, kernel.math)]


def dtype_name(dtype: Any) -> str:
    """NumPy's name of an element type, given as numpy.dtype takes it or as another library's dtype."""
    import numpy

    try:
        return str(numpy.dtype(dtype))
    except TypeError:
        return str(dtype).rpartition(".")[2]
