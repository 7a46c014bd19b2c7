#!/usr/bin/env python3
"""Makes copies of kernels' sources with the marks of marks.toml in them. It needs nothing but Python 3.11.

    instrument.py OUT             writes OUT/KERNEL/cuda/gemm/... for each kernel of marks.toml: the file with the kernel and
                                  the headers beside the marked ones, so that each finds the others where it looks first
    instrument.py --list-sources  prints, for each kernel, its name, its source and its block
    instrument.py --check         writes nothing; ends with status 1 where a mark's line is not there exactly once

A line that a mark names and that has changed is an error with the file and the line: the mark then has to move with it.
"""

import argparse
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GEMM = "backends/cuda/gemm"
PHASES = {"load": "Load", "wait": "Wait", "multiply": "Multiply", "store": "Store"}
NEEDED, KNOWN = {"source", "block", "shows", "marks"}, {"file", "before", "after", "put", "guard", "alone"}
HEADERS = {".cuh", ".hpp"}


class WrongMarks(Exception):
    """Marks that do not fit the sources."""


def read_marks(path=HERE / "marks.toml"):
    kernels = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, kernel in kernels.items():
        if set(kernel) != NEEDED:
            raise WrongMarks(f"{path.name}: [{name}] has {sorted(kernel)}; it needs {sorted(NEEDED)}")
        for mark in kernel["marks"]:
            if not set(mark) <= KNOWN or ("before" in mark) == ("after" in mark):
                raise WrongMarks(f"{path.name}: [{name}] {mark}: a mark has put, one of before and after, and of {sorted(KNOWN)} what it needs")
            if mark.get("put") not in {*PHASES, "begin", "end"}:
                raise WrongMarks(f"{path.name}: [{name}] puts {mark.get('put')!r}; known are {', '.join(PHASES)}, begin and end")
        put = [mark["put"] for mark in kernel["marks"]]
        if "begin" not in put or "end" not in put:
            raise WrongMarks(f"{path.name}: [{name}] needs a mark that puts begin, and one that puts end")
    return kernels


def statement(mark):
    """The mark as code. It begins in the first column, so that no compiler takes it for a part of the `if` above it."""
    if mark["put"] in ("begin", "end"):
        call = f"{mark['put']}();"
    else:
        call = f"mark{'_alone' if mark.get('alone') else ''}(::tessera::timeline::Phase::{PHASES[mark['put']]});"
    return f"{mark['guard'] + ' ' if 'guard' in mark else ''}::tessera::timeline::{call}"


def with_marks(text, marks, name):
    """The text of a file with its marks; `name` is for errors."""
    lines = text.split("\n")
    before, after = {}, {}
    for mark in marks:
        anchor = mark.get("before", mark.get("after"))
        found = [at for at, line in enumerate(lines) if line == anchor]
        if len(found) != 1:
            raise WrongMarks(f"{name}: this line is there {len(found)} times, and a mark needs it once (docs/ladder/timeline/marks.toml):\n  {anchor}")
        (before if "before" in mark else after).setdefault(found[0], []).append(statement(mark))
    made = []
    for at, line in enumerate(lines):
        made += [*before.get(at, ()), line, *after.get(at, ())]
    return "\n".join(made)


def copies_of(name, kernel, root):
    """{path below backends: text} of what the instrumented kernel is compiled from instead of the shipped files."""
    by_file = {kernel["source"]: []}
    for mark in kernel["marks"]:
        by_file.setdefault(mark.get("file", kernel["source"]), []).append(mark)
    marked = {file: with_marks((root / GEMM / file).read_text(encoding="utf-8"), marks, f"{GEMM}/{file}") for file, marks in by_file.items()}
    copies = {}
    for file in marked:
        if pathlib.PurePath(file).suffix in HEADERS:
            for beside in sorted((root / GEMM / file).parent.iterdir()):
                if beside.suffix in HEADERS:
                    copies[f"{pathlib.PurePath(file).parent}/{beside.name}"] = beside.read_text(encoding="utf-8")
    copies |= marked
    source = copies[kernel["source"]]
    copies[kernel["source"]] = f"{source.rstrip()}\n\nTESSERA_TIMELINE_EXPORT({name})\n"
    for file in marked:
        at = copies[file].index("#include")
        copies[file] = f'{copies[file][:at]}#include "timeline/marks.cuh"\n{copies[file][at:]}'
    return {f"cuda/gemm/{file}": text for file, text in copies.items()}


def write(folder, kernels, root):
    """Writes what differs, so that what was compiled stays where nothing changed."""
    for name, kernel in kernels.items():
        for file, text in copies_of(name, kernel, root).items():
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="OUT", help="where the copies go")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--list-sources", action="store_true", help="print names, sources and blocks")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository (default: this one)")
    options = parser.parse_args(arguments)
    if (options.folder is not None) + options.check + options.list_sources != 1:
        parser.error("give one of OUT, --check and --list-sources")
    try:
        kernels = read_marks()
        if options.list_sources:
            for name, kernel in kernels.items():
                print(name, kernel["source"], kernel["block"])
        elif options.check:
            for name, kernel in kernels.items():
                copies_of(name, kernel, options.root)
        else:
            write(options.folder, kernels, options.root)
    except (WrongMarks, OSError) as error:
        print(f"instrument.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
