"""The programs that come with the package; importing the package has told them where Python's cuBLAS is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

folder = Path(__file__).parent / "bin"


def start(name: str, arguments: list[str]) -> NoReturn:
    """Becomes the program."""
    program = folder / name
    if not program.exists():
        sys.exit(f"{name} is not in {folder}: this package was built with TESSERA_BUILD_APPS=OFF; build it with ON")
    sys.stdout.flush()
    os.execv(program, [name, *arguments])


def gemm_compare() -> NoReturn:
    start("gemm_compare", sys.argv[1:])


def tessera_info() -> NoReturn:
    start("tessera_info", sys.argv[1:])
