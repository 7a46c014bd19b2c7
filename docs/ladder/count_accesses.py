#!/usr/bin/env python3
"""Has the lens count the accesses of the CUDA rungs, and puts the counts into docs/results. It needs no GPU.

    count_accesses.py BUILD [KERNEL...]              BUILD has bin/gemm_compare; with names it counts these kernels anew
    count_accesses.py BUILD --products [KERNEL...]   the products that ncu has counted: h200-lens-ncu.json names them
    count_accesses.py BUILD --check KERNEL...        writes nothing; ends with status 1 if the products' counts have changed

The first writes lens-cuda-f32.json, line by line. A kernel that the lens cannot run is left out, with a line on the
standard error. Accesses of one kind, array and cost are one row, with the first line of the rung that makes them;
addresses are not kept. The others are of lens-cuda-products.json, a row of sums a product.
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

import beside_ncu  # noqa: E402
import rungs  # noqa: E402

FILE = rungs.ROOT / "docs/results/lens-cuda-f32.json"
COUNTS = ("requests", "sectors", "wavefronts", "bytes_asked")
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
    return [{name: value for name, value in row.items() if value != 0} for row in rows.values()]


def kept(document):
    """What a page needs of the lens's document."""
    own = relative(document["file"])
    launches = [{**{name: launch[name] for name in LAUNCH if name in launch}, "lines": rows_of(launch, own)} for launch in document["launches"]]
    shape = document["shape"]
    text = shape if isinstance(shape, str) else "×".join(str(shape[name]) for name in "mnk")
    return {"kernel": document["kernel"], "shape": text, "dtype": document.get("dtype", "f32"),
            "findings": document.get("findings", []), "launches": launches}


def look(compare, kernel, n=256, dtype="f32", transposes=False):
    """The lens's document of a product, or what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "lens.json"
        run = subprocess.run([compare, "--lens", kernel, "--shape", f"{n}x{n}x{n}", "--dtype", dtype, "--time-limit", "600", "--json", file,
                              *(["--transA", "--transB"] if transposes else [])],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if not file.is_file():
            return None, (run.stdout.strip().splitlines() or ["it wrote nothing"])[0]
        document = json.loads(file.read_text(encoding="utf-8"))
    if document.get("ended") or document.get("product", "right") != "right":
        return None, document.get("ended") or document["product"]
    return document, None


def count_lines(compare, kernels, every):
    """Writes the accesses of these kernels, line by line; `every`: the order of the file. Returns how many failed."""
    known = {one["kernel"]: one for one in json.loads(FILE.read_text(encoding="utf-8"))} if FILE.is_file() else {}
    failed = 0
    for kernel in kernels:
        document, problem = look(compare, kernel)
        if problem:
            print(f"{kernel}: {problem}", file=sys.stderr)
            known.pop(kernel, None)
            failed += 1
        else:
            known[kernel] = kept({**document, "kernel": kernel})
            print(f"{kernel}: {sum(len(launch['lines']) for launch in known[kernel]['launches'])} lines")
    rows = ",\n".join(json.dumps(known[kernel], ensure_ascii=False, separators=(",", ":")) for kernel in every if kernel in known)
    FILE.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    return failed


def count_products(compare, kernels):
    """{kernel: {product: sums}} of the products that ncu has counted, and how many failed."""
    counted, failed = {}, 0
    for kernel in kernels:
        for name in beside_ncu.measured_by_ncu()["kernels"][kernel]:
            dtype, transposes, n = name.split()
            document, problem = look(compare, kernel, int(n), dtype, transposes == "both")
            if problem:
                print(f"{kernel}, {name}: {problem}", file=sys.stderr)
                failed += 1
            else:
                counted.setdefault(kernel, {})[name] = beside_ncu.sums_of(document["launches"][-1]["lines"], kernel, int(n))
        print(f"{kernel}: {len(counted.get(kernel, ()))} products")
    return counted, failed


def changes(counted):
    known = beside_ncu.counted_by_lens()["kernels"]
    return [f"{kernel}, {name}: {sums}, where lens-cuda-products.json has {known.get(kernel, {}).get(name)}"
            for kernel, products in counted.items() for name, sums in products.items() if known.get(kernel, {}).get(name) != sums]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--products", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_intermixed_args(arguments)
    if given.products or given.check:
        wanted = list(beside_ncu.measured_by_ncu()["kernels"])
    else:
        wanted = [kernel for rung in rungs.read_ladder("cuda") for kernel in rung.kernels if f"{kernel}_f32" in rung.text]
    unknown = [kernel for kernel in given.kernels if kernel not in wanted]
    if unknown:
        print(f"no CUDA rung to count is called {unknown[0]}; known: {' '.join(wanted)}", file=sys.stderr)
        return 2
    kernels, compare = given.kernels or wanted, given.build / "bin/gemm_compare"
    if not given.products and not given.check:
        return 1 if count_lines(compare, kernels, wanted) == len(kernels) else 0
    counted, failed = count_products(compare, kernels)
    if given.check:
        found = changes(counted)
        print("\n".join(found), file=sys.stderr, end="\n" if found else "")
        return 1 if found or failed else 0
    beside_ncu.keep(counted)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
