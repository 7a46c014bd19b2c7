#!/usr/bin/env python3
"""Makes the pages of the ladders from the rungs' sources and from docs/results. It needs nothing but Python 3.11.

    make_ladder.py           writes docs/ladder/README.md, a page a rung, and their pictures; deletes what is no longer made
    make_ladder.py --check   writes nothing; ends with status 1 if one of them is not what it would write

What only a person can say of a rung is the comment of its source, and limits.toml: what limits it, and what answers that.
Of factors that is factors.toml, with exercises.
The modules are in make/. After a change to a rung, to a result or to limits.toml run this program again.
"""

import argparse
import pathlib
import sys

if sys.version_info < (3, 11):
    print("skipped: make_ladder.py reads TOML, which needs Python 3.11")
    sys.exit(0)
sys.dont_write_bytecode = True  # into the sources
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "make"))

import factors  # noqa: E402
import overview  # noqa: E402
import rungs  # noqa: E402
from pages import Page  # noqa: E402

ROOT = HERE.parents[1]


def made():
    """Every file below docs/ladder that this program makes, by its path, and its text."""
    ladders = rungs.read_all()
    files = overview.overview_page(ladders)
    for ladder, of in ladders.items():
        files |= overview.ladder_page(ladder, of)
        for rung in of:
            files |= Page(rung, ladders).build()
    return files | factors.pages()


def present():
    """The files that an earlier run made."""
    return [path for ladder in (*rungs.LADDERS, "factors", "pictures") for path in (HERE / ladder).rglob("*") if path.suffix in (".md", ".svg")]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare")
    check = parser.parse_args(arguments).check
    files = {ROOT / path: text for path, text in made().items()}
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    left_over = [path for path in present() if path not in files]
    if check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what docs/ladder/make_ladder.py makes; run it", file=sys.stderr)
        for path in left_over:
            print(f"{path.relative_to(ROOT)} is no longer made; run docs/ladder/make_ladder.py, which deletes it", file=sys.stderr)
        return 1 if stale or left_over else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    for path in left_over:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
