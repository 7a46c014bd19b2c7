"""What docs/results knows of the rungs: times of gemm_compare, counters of ncu, and counts of the lens."""

import functools
import json
import re

from rungs import ROOT

RESULTS = ROOT / "docs/results"
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4}
VENDOR = re.compile(r"^(cublas|cub$|cblas:)")
VENDOR_NAME = {"cublas": "cuBLAS", "cub": "CUB"}
OPENMP, CUDA = ("openmp", "reference"), ("cuda",)


@functools.lru_cache(None)
def documents(schema):
    """(file name, document) of each committed result of a schema, the newest last."""
    found = []
    for file in sorted(RESULTS.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(document, dict) and str(document.get("schema", "")).startswith(schema + "/"):
            found.append((file.name, document))
    return sorted(found, key=lambda entry: (entry[1].get("machine", {}).get("date", ""), entry[0]))


def is_plain(row):
    """A product of squares, without transposes and with C not read; or a sum."""
    square = row["op"] == "sum_of_squares" or row["m"] == row["n"] == row["k"]
    return row["seconds"] and square and not row["trans_a"] and not row["trans_b"] and not row["beta"] and not row["transfer"]


class Run:
    """The rows of one document for one type and one number of threads."""

    def __init__(self, file, document, ladder, dtype, threads):
        self.file, self.ladder, self.dtype, self.threads = file, ladder, dtype, threads
        self.machine = document["machine"]
        backends = CUDA if ladder != "cpu" else OPENMP
        op = "sum_of_squares" if ladder == "reduce" else "gemm"
        self.rows = [row for row in document["results"]
                     if row["op"] == op and row["dtype"] == dtype and row["backend"] in backends and is_plain(row)
                     and (row["threads"] == threads or row["backend"] == "reference")]
        self.sizes = sorted({row["n"] for row in self.rows})
        self.date = self.machine["date"][:10]
        device = next((d for d in self.machine["devices"] if d["backend"] in (CUDA if ladder != "cpu" else ("openmp",))), {})
        self.device = device

    def at(self, n, kernel):
        rows = [row for row in self.rows if row["n"] == n and row["kernel"] == kernel]
        return min(rows, key=lambda row: row["seconds"]["median"], default=None)

    def size(self, kernels):
        """The size at which most of these kernels were measured; the largest of several."""
        return max(self.sizes, key=lambda n: (sum(self.at(n, kernel) is not None for kernel in kernels), n), default=None)

    def ceiling(self, math="strict"):
        wanted = "cuda" if self.ladder != "cpu" else "cpu"
        known = [c for c in self.machine.get("ceilings", ()) if c["device"] == wanted and c["dtype"] == self.dtype
                 and (wanted == "cuda" or c["threads"] == self.threads)]
        exact = [c for c in known if c["math"] == math]
        return (exact or [c for c in known if c["math"] == "strict"] or [None])[0]

    @property
    def key(self):
        return f"{slug(self.name)}-{self.dtype}" + (f"-{self.threads}" if self.ladder == "cpu" else "")

    @property
    def name(self):
        if self.ladder != "cpu":
            return re.sub(r"^NVIDIA (\w+).*", r"\1", self.device["device"])
        cpu = self.machine["cpu"]
        return "Xeon" if "Xeon" in cpu else re.sub(r"\(R\)|Processor|\d+-Core|AMD ", "", cpu).strip()

    @property
    def title(self):
        threads = f", {self.threads} thread{'s' if self.threads > 1 else ''}" if self.ladder == "cpu" else ""
        return f"{self.name}{threads}, {self.dtype}"

    def vendor(self, n, math):
        """The vendor's row in this mode; in modes that it does not have, its strict one."""
        rows = [row for row in self.rows if row["n"] == n and VENDOR.match(row["kernel"])]
        rows = [row for row in rows if row["math"] == math] or [row for row in rows if row["math"] == "strict"]
        plain = [row for row in rows if not row["kernel"].startswith("cublas_lt")]
        return min(plain or rows, key=lambda row: row["seconds"]["median"], default=None)

    def best(self, n, math):
        rows = [row for row in self.rows if row["n"] == n and row["math"] == math and not VENDOR.match(row["kernel"])]
        return min(rows, key=lambda row: row["seconds"]["median"], default=None)


def other_products(kernel):
    """Products of which the kernel was measured, but not with its ladder: (run, [row]) of each machine, type and number of
    threads, product by product, the fastest first. Beside a kernel of another mode stand the strict ones."""
    found = {}
    alike = ("m", "n", "k", "dtype", "trans_a", "trans_b", "backend", "threads")
    for file, document in documents("tessera.compare"):
        own = [row for row in document["results"] if row["op"] == "gemm" and row["kernel"] == kernel and row["seconds"] and not row["beta"]]
        for row in own:
            run = Run(file, document, "cuda" if row["backend"] == "cuda" else "cpu", row["dtype"], row["threads"])
            rows = found.setdefault((file, run.key), (run, []))[1]
            rows += [one for one in document["results"] if one["seconds"] and not one["transfer"] and one not in rows
                     and one["math"] in (row["math"], "strict") and all(one[name] == row[name] for name in alike)]
    for _, rows in found.values():
        rows.sort(key=lambda one: (one["m"] * one["n"] * one["k"], one["m"], one["n"], one["seconds"]["median"]))
    return list(found.values())


def slug(words):
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def shown(kernel):
    """A kernel's name for readers."""
    if kernel.startswith("cblas:"):
        return {"openblas": "OpenBLAS", "mkl_rt": "MKL", "blis": "BLIS"}.get(kernel[6:], kernel[6:])
    return VENDOR_NAME.get(kernel, kernel)


@functools.lru_cache(None)
def runs(ladder, kernels):
    """For each machine, type and number of threads the document with the most kernels of the ladder, the newest of several."""
    found = {}
    for file, document in documents("tessera.compare"):
        types = {(row["dtype"], row["threads"]) for row in document["results"] if row["backend"] in (CUDA if ladder != "cpu" else ("openmp",))}
        for dtype, threads in sorted(types):
            run = Run(file, document, ladder, dtype, threads)
            count = len({row["kernel"] for row in run.rows} & set(kernels))
            if count and (run.key not in found or count >= found[run.key][0]):
                found[run.key] = (count, run)
    # A document that has only a few of the kernels shows no ladder; wmma's own types are whole with two.
    kept = [run for count, run in found.values() if count >= 3 or run.dtype in ("f16", "bf16")]
    order = {"f32": 0, "f64": 1}
    return sorted(kept, key=lambda run: (order.get(run.dtype, 2), run.name, run.threads))


@functools.lru_cache(None)
def counters():
    """The rows of ncu: docs/results/*-counters-*.json, by kernel and type; the newest."""
    found = {}
    for file, document in documents("tessera.counters"):
        for row in document["rows"]:
            found[row["kernel"], row["dtype"]] = {**row, "file": file, "device": document["machine"]["device"]}
    return found


@functools.lru_cache(None)
def lens():
    """Documents of the lens, by kernel."""
    return {one["kernel"]: one for one in json.loads((RESULTS / "lens-cuda-f32.json").read_text(encoding="utf-8"))}


@functools.lru_cache(None)
def cache_misses():
    """The counts of Cachegrind by kernel, and its file: docs/results/cachegrind-*.json."""
    found = {}
    for file, document in documents("tessera.cache"):
        for row in document["rows"]:
            found[row["kernel"]] = {**row, "file": file}
    return found
