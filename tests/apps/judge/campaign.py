#!/usr/bin/env python3
"""Judges kernels many times and counts their verdicts, on a quiet machine or on a busy one.

    campaign.py --build build/check --runs 100             every line of the tables in docs/judge_verdicts.md
    campaign.py --build build/check --runs 100 --load 8    the same beside eight programs that compute
    campaign.py --build build/check --runs 100 my.so other.so --arguments='--sizes 200 --threads 1'

A line of the result has a kernel, the number of its runs, and how often each verdict was given. The exit status is 1
if a kernel that must not pass did, or one that must pass was refused.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

source = pathlib.Path(__file__).resolve().parents[3]


class Line:
    """A kernel, the arguments with which it is judged, and the verdict that docs/judge_verdicts.md prints."""

    def __init__(self, kernel, arguments, expected):
        self.kernel, self.arguments, self.expected = kernel, arguments, expected


def lines_of_page(page):
    """Reads the tables of kernels for the processor: | `kernel` (`--option value`) | verdict: explanation |."""
    lines = []
    for row in page.read_text().split("\n## CUDA")[0].splitlines():
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        if not row.startswith("| `") or len(cells) < 2:
            continue
        expected = re.match(r"(pass|wrong|failed)\b", cells[-1])
        if not expected:
            continue
        options = " ".join(re.findall(r"`(--[^`]*)`", cells[0]))
        for kernel in re.findall(r"`([\w./]+)`", re.sub(r"\([^)]*\)", "", cells[0])):
            lines.append(Line(kernel, shlex.split(options), expected.group(1)))
    return lines


def file_of(kernel, build):
    for file in (pathlib.Path(kernel), build / "tests/apps/judge/kernels" / f"{kernel}.so",
                 source / "tests/apps/judge/kernels/python" / kernel, source / kernel):
        if file.is_file():
            return str(file.resolve())
    return None


def verdict_of(line, file, build, seconds):
    """Runs gemm_compare once. Returns the verdict, or a word of this program's own."""
    defaults = [] if {"--shape", "--sizes"} & set(line.arguments) else ["--shape", "45x37x50"]
    if "--kernel-time-limit" not in line.arguments:
        defaults += ["--kernel-time-limit", seconds]
    if "--abi" in line.arguments:
        pass
    elif line.kernel.startswith("tessera_"):
        defaults += ["--abi", "tessera"]
    elif line.kernel.startswith("cblas_"):
        defaults += ["--abi", "cblas"]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [str(build / "bin/gemm_compare"), "--backend", "reference", "--kernels", "canonical", "--json", report,
                   "--kernel", file, *defaults, *line.arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            results = json.loads(pathlib.Path(report).read_text())["results"]
            return next(one["verdict"] for one in results if one["backend"] == "external")
        except (OSError, ValueError, KeyError, StopIteration):
            return f"status {done.returncode}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=source / "build/check")
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--load", type=int, default=0, help="programs that compute meanwhile")
    options.add_argument("--seconds", default="5", help="--kernel-time-limit of kernels without one in the table")
    options.add_argument("--only", default="", help="a regular expression of kernels' names")
    options.add_argument("--arguments", default="", help="of gemm_compare, for the files that are named")
    options.add_argument("--expected", default="refused", choices=["refused", "pass"], help="of the files named")
    options.add_argument("files", nargs="*")
    chosen = options.parse_args()

    lines = [Line(file, shlex.split(chosen.arguments), chosen.expected) for file in chosen.files]
    lines = lines or lines_of_page(source / "docs/judge_verdicts.md")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(chosen.load)]
    failures = 0
    try:
        for line in lines:
            file = file_of(line.kernel, chosen.build)
            if file is None or not re.search(chosen.only, line.kernel):
                continue
            counts = collections.Counter(verdict_of(line, file, chosen.build, chosen.seconds)
                                         for _ in range(chosen.runs))
            said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
            right = {"pass", "cannot say"} if line.expected == "pass" else {"wrong", "failed", "cannot say"}
            failed = set(counts) - right
            failures += bool(failed)
            name = " ".join([os.path.basename(line.kernel), *line.arguments])
            print(f"{'FAILED ' if failed else ''}{name}: {said}", flush=True)
    finally:
        for program in busy:
            program.kill()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
