#!/usr/bin/env python3
"""Reads the comments of the public headers with Doxygen, and checks that every symbol has one.

public_headers.py ROOT WORK   only checks the checkout ROOT, with files on the way in WORK
"""

import os
import pathlib
import shutil
import subprocess
import sys

from header_pages import HeaderPages

DOXYFILE = pathlib.Path(__file__).with_name("Doxyfile")


def read_headers(root, work):
    """Returns the headers' pages; ends the program where a comment is missing or has a mistake."""
    shutil.rmtree(work / "xml", ignore_errors=True)
    below = os.path.relpath(work, root)  # the folders above may have any character in their names
    settings = DOXYFILE.read_text(encoding="utf-8") + f'\nOUTPUT_DIRECTORY = "{below}"\n'
    done = subprocess.run(["doxygen", "-"], cwd=root, input=settings, text=True, check=False)
    pages = HeaderPages(work / "xml")
    missing = sorted(set(pages.undocumented()))
    for symbol in missing:
        print(f"include/{symbol} has no comment", file=sys.stderr)
    if done.returncode or missing:
        raise SystemExit(f"the comments of the public headers are not complete ({len(missing)} symbols)")
    return pages


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root, work = (pathlib.Path(argument).resolve() for argument in arguments)
    work.mkdir(parents=True, exist_ok=True)
    print(f"{len(read_headers(root, work).headers)} public headers: every symbol has a comment")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
