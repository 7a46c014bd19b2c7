#!/usr/bin/env python3
"""join_sources.py SOURCE BUILD JOINED: writes to the folder JOINED what clang-tidy reads in place of the library.

What other programs link or load (src/ and backends/ of the folder SOURCE), as far as the build in the folder BUILD
compiles it, is included eight files at a time, with the compiler's words for them: most of clang-tidy's time goes into
the headers. JOINED/compile_commands.json lists the files written.
"""
import json
import pathlib
import re
import shlex
import shutil
import sys

source, build, joined = (pathlib.Path(path).resolve() for path in sys.argv[1:])
libraries = ("src", "backends")


def below(path, folder):
    """The parts of the path below the folder; none if it is elsewhere."""
    return path.relative_to(folder).parts if path.is_relative_to(folder) else ()


def words(entry):
    """The compile command of an entry without its output, its file, and a warning that clang does not know."""
    command = entry.get("arguments") or shlex.split(entry["command"])
    at = command.index("-o")
    return tuple(word for word in command[:at] if word != "-Wno-subobject-linkage") + ("-c",)


batches = {}
for entry in json.loads((build / "compile_commands.json").read_text()):
    path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
    made, ours = below(path, build), below(path, source)
    if made:  # what the library's own build has joined already
        if made[0] not in libraries or "Unity" not in made:
            continue
    elif not ours or ours[0] not in libraries or path.suffix != ".cpp":
        continue
    # Three files of src/ that the build has joined are one here. A rung stays alone: each has a `rung` or a `run`. The
    # others named here have a `fail`, a `part` and `tasks_per_thread`, which other files have too.
    alone = made[:1] == ("backends",) or not made and (path.name in ("output_file.cpp", "bandwidth.cpp", "range.cpp")
                          or re.search(r"Kernel rung\b|Status run\(", path.read_text()))
    batches.setdefault((words(entry), path if alone else None, 3 if made else 8), []).append(path)

shutil.rmtree(joined, ignore_errors=True)
joined.mkdir(parents=True)
entries = []
for (command, _, most), paths in batches.items():
    for first in range(0, len(paths), most):
        file = joined / f"{len(entries) + 1}.cpp"
        file.write_text("".join(f'#include "{path}"\n' for path in paths[first:first + most]))
        entries.append({"directory": str(joined), "file": str(file), "arguments": [*command, str(file)]})
if not entries:
    sys.exit(f"{build} compiles nothing of {source}")
(joined / "compile_commands.json").write_text(json.dumps(entries, indent=1))
