"""cuBLAS from Python's packages: nvidia-cublas, or nvidia-cublas-cu12."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def found() -> list[Path]:
    """The files of cuBLAS in the packages of this Python, the newest first."""
    spec = find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    files = []
    for root in roots:
        # nvidia-cublas has nvidia/cu13/lib/libcublas.so.13, and nvidia-cublas-cu12 has nvidia/cublas/lib/libcublas.so.12.
        files += [*root.glob("cu[0-9]*/lib/libcublas.so.[0-9]*"), *root.glob("cublas/lib/libcublas.so.[0-9]*")]
    return sorted(files, key=lambda file: file.name, reverse=True)


def announce() -> None:
    """Tells the CUDA backend, and the programs, where these files are, unless the user named cuBLAS."""
    if "TESSERA_CUBLAS" in os.environ or "TESSERA_CUBLAS_PATH" in os.environ:
        return
    folders = list(dict.fromkeys(str(file.parent) for file in found() if ":" not in str(file)))
    if folders:
        os.environ["TESSERA_CUBLAS_PATH"] = ":".join(folders)
