#!/usr/bin/env python3
"""Has Cachegrind count the loads and cache misses of the processor's rungs: docs/results/cachegrind-cpu-f32.json.

    count_cache_misses.py BUILD [KERNEL...]     BUILD has bin/gemm_compare; with names it counts these kernels anew

The caches are simulated, so that the counts need no permission for a processor's counters, which virtual machines seldom
have, and are the same everywhere: 32 KiB of L1 with 8 ways, 1 MiB of L2 with 16 ways, one thread, AVX2. The counts are of
the backend's own functions, without what measures the machine's bandwidth. It takes a quarter of an hour.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "make"))

import rungs  # noqa: E402

SIZE = 320
RUNS = 2  # the program runs a product once to warm up and once for the time
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")
FILE = rungs.ROOT / "docs/results/cachegrind-cpu-f32.json"
NOT_OF_PRODUCTS = re.compile(r"::(read_avx2|read_again|read_portable|read_avx512|memory_bandwidth|copy_\w+|fma_\w+)\b")
# What runs another kernel at this size, or the same loop under another schedule.
LEFT_OUT = {"strassen", "naive_schedules"}


def totals(text):
    """(loads, misses of L1, misses of L2) of the backend's functions in a file of Cachegrind."""
    events, inside = [], False
    found = {"Dr": 0, "D1mr": 0, "DLmr": 0}
    for line in text.splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            inside = "tessera::cpu::" in line and not NOT_OF_PRODUCTS.search(line)
        elif inside and line[:1].isdigit():
            for name, value in zip(events, line.split()[1:]):
                if name in found:
                    found[name] += int(value)
    return found["Dr"], found["D1mr"], found["DLmr"]


def count(compare, kernel, math):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counts"
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHES, f"--cachegrind-out-file={file}", compare, "--backend", "openmp",
                   "--threads", "1", "--kernels", kernel, "--math", math, "--sizes", str(SIZE), "--dtype", "f32", "--repeat", "1",
                   "--check-rows", "1", "--time-limit", "0", "--no-progress"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "TESSERA_CPU_ISA": "avx2"})
        if run.returncode or not file.is_file():
            raise SystemExit(f"{kernel}: {run.stdout.strip().splitlines()[-1] if run.stdout.strip() else 'valgrind said nothing'}")
        return row_of(kernel, totals(file.read_text(encoding="utf-8")))


def row_of(kernel, counts):
    loads, first, second = counts
    return {"kernel": kernel, "n": SIZE, "products": RUNS * SIZE**3, "loads": loads, "l1_misses": first, "l2_misses": second}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    given = parser.parse_args(arguments)
    known = {row["kernel"]: row for row in json.loads(FILE.read_text(encoding="utf-8"))["rows"]} if FILE.is_file() else {}
    wanted = {kernel: rung.math for rung in rungs.read_ladder("cpu") if rung.name not in LEFT_OUT for kernel in rung.kernels} | {"simd": "strict"}
    for kernel in given.kernels or wanted:
        if kernel not in wanted:
            print(f"{kernel} is not counted; known: {' '.join(wanted)}", file=sys.stderr)
            return 2
        known[kernel] = count(given.build / "bin/gemm_compare", kernel, wanted[kernel])
        print(known[kernel])
    rows = ",\n".join(json.dumps(known[kernel]) for kernel in wanted if kernel in known)
    head = json.dumps({"schema": "tessera.cache/1", "command": "docs/ladder/count_cache_misses.py BUILD", "caches": CACHES, "isa": "avx2"})
    FILE.write_text(f'{head[:-1]}, "rows": [\n{rows}\n]}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
