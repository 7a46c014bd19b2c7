#!/usr/bin/env python3
"""Puts a report of gemm_compare on factors into docs/results, from where make_ladder.py takes it.

    keep_factors.py REPORT.json MACHINE      for example: keep_factors.py factors.json zen5-2c

It writes docs/results/MACHINE-factors.json (schema tessera.factors/1), a row a line: the operation, the way, the rows of
the matrix, the least processor time of one thread and the rate by it, the largest residual over its bound, and how many
elements have other bits than the contract's. Entries with several threads are left out.
"""

import json
import pathlib
import sys

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
MACHINE = ("cpu", "instruction_set", "os", "date", "compiler", "devices")


def kept(result):
    seconds = result["processor_seconds"]
    rate = result["gflops"] * result["seconds"]["median"] / seconds
    return {"op": result["op"], "way": result["kernel"], "n": result["n"], "processor_seconds": float(f"{seconds:.4g}"),
            "gflops": float(f"{rate:.4g}"), "max_over_bound": float(f"{result['error']['max_over_bound']:.3g}"),
            "differing_bits": result["error"]["differing_bits"]}


def main(report, machine):
    document = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
    rows = [kept(result) for result in document["results"] if result.get("processor_seconds") and result["error"]]
    about = {name: document["machine"][name] for name in MACHINE}
    about["devices"] = [device for device in about["devices"] if device["backend"] == "openmp"]
    head = json.dumps({"schema": "tessera.factors/1", "dtype": document["results"][0]["dtype"], "machine": about}, ensure_ascii=False)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (RESULTS / f"{machine}-factors.json").write_text(f'{head[:-1]}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
