"""The programs that come with the package; importing the package has told them where Python's cuBLAS is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

folder = Path(__file__).parent / "bin"


def leave(status: int, message: str) -> NoReturn:
    """Says the message on stderr, as far as that can be done, and ends the process with this status."""
    try:
        if sys.stderr is not None:  # None: it was closed when Python started
            print(message, file=sys.stderr, flush=True)
    except OSError:
        pass
    os._exit(status)  # sys.exit() would try to write what is left, and give a status of its own where that fails


def answer(text: str) -> NoReturn:
    """Prints the text and ends the process; with status 2 if it cannot be printed."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        print(text, flush=True)
    except OSError as error:
        leave(2, f"cannot write to stdout: {error}")
    os._exit(0)


def start(name: str, arguments: list[str]) -> NoReturn:
    """Becomes the program."""
    program = folder / name
    if not program.exists():
        leave(1, f"{name} is not in {folder}: this package was built with TESSERA_BUILD_APPS=OFF; build it with ON")
    if sys.stdout is not None:
        sys.stdout.flush()
    os.execv(program, [name, *arguments])


def gemm_compare() -> NoReturn:
    start("gemm_compare", sys.argv[1:])


def tessera_info() -> NoReturn:
    start("tessera_info", sys.argv[1:])
