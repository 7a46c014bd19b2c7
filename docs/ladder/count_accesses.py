#!/usr/bin/env python3
"""Has the lens count the accesses of every CUDA rung, and puts the counts into docs/results/lens-cuda-f32.json. It needs no GPU.

    count_accesses.py BUILD [KERNEL...]     BUILD has bin/gemm_compare; with names it counts these kernels anew

A kernel that the lens cannot run is left out, with a line on the standard error. Accesses of one kind, array
and cost are one row, with the first line of the rung that makes them; addresses are not kept.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "make"))

import rungs  # noqa: E402

SHAPE = "256x256x256"
FILE = rungs.ROOT / "docs/results/lens-cuda-f32.json"
COUNTS = ("requests", "sectors", "wavefronts", "bytes_asked", "bytes_moved")
LAUNCH = ("name", "grid", "block", "shared_bytes", "barriers", "divergent_branches")


def relative(file):
    """A file's path from the root of whichever copy the lens was built in."""
    for folder in ("backends/", "apps/", "include/"):
        _, found, rest = f"/{file}".partition(f"/{folder}")
        if found:
            return folder + rest
    return pathlib.PurePath(file).name


def code_of(line, own):
    """The text of the rung's line that makes an access, or of a header's; where it is a call, the access is within."""
    file = relative(line.get("file", own))
    number = line.get("kernel_line") or line["line"]
    path = rungs.ROOT / (own if line.get("kernel_line") else file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return lines[number - 1].strip() if 0 < number <= len(lines) else f"{pathlib.PurePath(file).name}:{number}"


def rows_of(launch, own):
    rows = {}
    for line in launch["lines"]:
        if line["requests"]:
            cost = line["sectors"] if line["access"].startswith("global") else line["wavefronts"]
            key = line["access"], line.get("array", ""), round(cost / line["requests"], 2)
            row = rows.setdefault(key, {"access": key[0], "array": key[1], "code": code_of(line, own), **dict.fromkeys(COUNTS, 0)})
            for name in COUNTS:
                row[name] += line.get(name, 0)
    return list(rows.values())


def kept(document):
    """What a page needs of the lens's document."""
    own = relative(document["file"])
    launches = [{**{name: launch[name] for name in LAUNCH if name in launch}, "lines": rows_of(launch, own)} for launch in document["launches"]]
    shape = document["shape"]
    text = shape if isinstance(shape, str) else "×".join(str(shape[name]) for name in "mnk")
    return {"kernel": document["kernel"], "shape": text, "dtype": document.get("dtype", "f32"),
            "findings": document.get("findings", []), "launches": launches}


def count(compare, kernel):
    """The document of a kernel, or what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "lens.json"
        run = subprocess.run([compare, "--lens", kernel, "--shape", SHAPE, "--dtype", "f32", "--json", file],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if not file.is_file():
            return None, (run.stdout.strip().splitlines() or ["it wrote nothing"])[0]
        document = json.loads(file.read_text(encoding="utf-8"))
    if document.get("ended") or document.get("product", "right") != "right":
        return None, document.get("ended") or document["product"]
    return kept({**document, "kernel": kernel}), None


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    given = parser.parse_args(arguments)
    known = {one["kernel"]: one for one in json.loads(FILE.read_text(encoding="utf-8"))} if FILE.is_file() else {}
    wanted = [kernel for rung in rungs.read_ladder("cuda") for kernel in rung.kernels if f"{kernel}_f32" in rung.text]
    unknown = [kernel for kernel in given.kernels if kernel not in wanted]
    if unknown:
        print(f"no CUDA rung in f32 is called {unknown[0]}; known: {' '.join(wanted)}", file=sys.stderr)
        return 2
    failed = 0
    for kernel in given.kernels or wanted:
        document, problem = count(given.build / "bin/gemm_compare", kernel)
        if problem:
            print(f"{kernel}: {problem}", file=sys.stderr)
            known.pop(kernel, None)
            failed += 1
        else:
            known[kernel] = document
            print(f"{kernel}: {sum(len(launch['lines']) for launch in document['launches'])} lines")
    rows = ",\n".join(json.dumps(known[kernel], ensure_ascii=False, separators=(",", ":")) for kernel in wanted if kernel in known)
    FILE.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    return 1 if failed == len(given.kernels or wanted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
