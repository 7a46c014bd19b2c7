#!/usr/bin/env python3
"""Runs a program of a page and compares what it prints with what the page says.

    printed.py SOURCE COMMAND...

A comment `prints: TEXT` in the program is a line that it prints; "…" stands for any text. A program prints something in
any case. The exit status is the program's, or 1 if it prints something else.
"""

import pathlib
import re
import subprocess
import sys

PROMISE = re.compile(r"(?://|#|/\*) prints: (.*?) *(?:\*/)?$", re.M)


def difference(source, output):
    """What the output lacks, as a sentence; an empty string if it is what the source promises."""
    if not output.strip():
        return "the program prints nothing"
    lines = iter(output.splitlines())
    for promised in PROMISE.findall(source):
        pattern = ".*".join(map(re.escape, promised.split("…")))
        if not any(re.fullmatch(pattern, line) for line in lines):
            return f"the program does not print '{promised}', or not in this order"
    return ""


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    ran = subprocess.run(arguments[1:], stdout=subprocess.PIPE, text=True, check=False)
    print(ran.stdout, end="")
    found = difference(pathlib.Path(arguments[0]).read_text(encoding="utf-8"), ran.stdout)
    if found:
        print(found, file=sys.stderr)
    return ran.returncode or (1 if found else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
