#!/usr/bin/env python3
"""Puts what measure_gpu.sh measured into docs/results, from where make_ladder.py takes it.

    keep_measured.py FOLDER MACHINE [--device NAME] [--date YYYY-MM-DD]      for example: keep_measured.py out h100

FOLDER is the one that measure_gpu.sh filled, or a part of it. Times go into docs/results/MACHINE-ladder-*.json and
MACHINE-sum-of-squares.json: the reports of gemm_compare, a result a line, with six digits and without lists of errors.
Counters go into MACHINE-counters-PART.json (schema tessera.counters/1) from ncu-PART/KERNEL.csv, as `ncu --csv --page
raw` prints one counted launch: lines of the program, which name the sizes, and of ncu, then names, units and values. Values are kept in
bytes, nanoseconds and percent. A table without a launch is left out, with a line on the standard error.
"""

import argparse
import csv
import datetime
import json
import pathlib
import re
import sys

UNITS = {
    "byte": 1, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "byte/block": 1, "kbyte/block": 1e3, "mbyte/block": 1e6,
    "nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9,
}
TYPES = {"wmma_fp16": "f16", "wmma_bf16": "bf16"}


ASKED = set(re.findall(r"\b[a-z0-9]+__[\w.]+", (pathlib.Path(__file__).resolve().parent / "measure_gpu.sh").read_text(encoding="utf-8")))
STALLED, LEAST_STALL = "smsp__average_warps_issue_stalled", 0.02
RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
PARTS = ("f32", "f64", "units", "reductions")


class NotCounted(Exception):
    """A table without a launch."""


def number(text):
    """A value of ncu's, with or without commas between thousands; None for what is no number."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def launches(text):
    """The counted launches of a table: (function, {metric: value})."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if len(rows) < 3 or "Kernel Name" not in rows[0]:
        raise NotCounted("it has no table with a launch")
    head, units = rows[0], rows[1]
    found = []
    for row in rows[2:]:
        cells = dict(zip(head, row))
        metrics = {}
        for name, unit, value in zip(head, units, row):
            if (name in ASKED or name.startswith(STALLED)) and (known := number(value)) is not None:
                metrics[name] = known * UNITS.get(unit.lower(), 1)
        found.append((cells["Kernel Name"], metrics))
    return found


def rounded(value):
    """Six digits, and whole numbers as such."""
    short = float(f"{value:.6g}")
    return int(value) if value == int(value) and abs(value) < 2**53 else short


def shape_of(text):
    """m, n and k that gemm_compare printed above its table; the elements of a sum are n."""
    if match := re.search(r"^m = (\d+), n = (\d+), k = (\d+), ", text, re.M):
        return tuple(int(size) for size in match.groups())
    if match := re.search(r"^\S.*, length (\d+), ", text, re.M):
        return 1, int(match[1]), 1
    raise NotCounted("it does not have the line of gemm_compare that names the sizes")


def machine_of(folder):
    """(device, date) that a report of the folder names."""
    for file in sorted(folder.glob("ladder-*.json")):
        machine = json.loads(file.read_text(encoding="utf-8"))["machine"]
        for device in machine.get("devices", ()):
            if device["backend"] == "cuda":
                return device["device"], machine["date"][:10]
    return None, None


def document(folder, part, device, date):
    """The document of a folder's tables, and the files that hold none."""
    rows, empty = [], []
    for file in sorted((pathlib.Path(folder) / f"ncu-{part}").glob("*.csv")):
        kernel = file.stem
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
            function, metrics = launches(text)[-1]
            m, n, k = shape_of(text)
        except NotCounted as problem:
            empty.append(f"{file}: {problem}")
            continue
        metrics = {name: value for name, value in metrics.items() if not (name.startswith(STALLED) and value < LEAST_STALL)}
        rows.append({"kernel": kernel, "function": re.sub(r"^void |unnamed>::", "", function.partition("(")[0]), "dtype": TYPES.get(kernel, "f64" if part == "f64" else "f32"),
                     "m": m, "n": n, "k": k, "metrics": {name: rounded(value) for name, value in sorted(metrics.items())}})
    return {"schema": "tessera.counters/1", "machine": {"device": device, "date": date},
            "command": f"docs/ladder/measure_gpu.sh BUILD FOLDER {part}", "rows": rows}, empty


def lines_of(made, key):
    """The document as text, with an entry of its list `key` a line."""
    parts = []
    for name, value in made.items():
        if name == key:
            rows = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in value)
            parts.append(f'"{name}":[\n{rows}\n]')
        else:
            parts.append(f'"{name}":{json.dumps(value, ensure_ascii=False, separators=(",", ":"))}')
    return "{" + ",\n".join(parts) + "}\n"


def short(value):
    """Numbers with six digits; of errors the numbers alone, and not the lists."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [short(one) for one in value]
    return {name: short(one) for name, one in value.items()}


def report(text):
    """A report of gemm_compare as docs/results keeps it."""
    made = json.loads(text)
    for row in made["results"]:
        if row.get("error"):
            row["error"] = {"max_over_bound": row["error"].get("max_over_bound")}
        for name in ("freivalds", "device_state", "check_seconds", "speedup"):
            row.pop(name, None)
        if row.get("verdict") == "pass":
            row["reason"] = ""
    made["results"] = [row for row in made["results"] if row.get("seconds") or row.get("verdict") in ("wrong", "failed")]
    made["grades"] = []
    made["command"] = [pathlib.PurePath(word).name if word.startswith("/") else word for word in made["command"]]
    return lines_of(short(made), "results")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("machine", help="the first word of the files' names")
    parser.add_argument("--device", help="the device's name; by default as ladder-*.json has it")
    parser.add_argument("--date", help="of the run; today by default")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    device, date = machine_of(given.folder)
    device, date = given.device or device, given.date or date or datetime.date.today().isoformat()
    if device is None and any(given.folder.glob("ncu-*/*.csv")):
        print(f"{given.folder} has no ladder-*.json, which names the device; give it as --device NAME", file=sys.stderr)
        return 2
    kept = []
    for file in sorted(given.folder.glob("ladder-*.json")):
        name = file.name.replace("ladder-sum-of-squares", "sum-of-squares")
        kept.append((f"{given.machine}-{name}", report(file.read_text(encoding="utf-8"))))
    for part in PARTS:
        made, empty = document(given.folder, part, device, date)
        print("\n".join(empty), file=sys.stderr, end="\n" if empty else "")
        if made["rows"]:
            kept.append((f"{given.machine}-counters-{part}.json", lines_of(made, "rows")))
    if not kept:
        print(f"{given.folder} has no ladder-*.json and no ncu-PART with a launch; run measure_gpu.sh", file=sys.stderr)
        return 1
    for name, text in kept:
        (given.results / name).write_text(text, encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
