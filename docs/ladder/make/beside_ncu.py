"""The lens's counts beside ncu's on a GPU, for the products of both: docs/results/h200-lens-ncu.json (every different
launch of a product) and lens-cuda-products.json. What differs must be explained in limits.toml, in an entry `ncu` of the rung:

    joined   an array whose neighbours nvcc reads by one load of 16 bytes, where the source has a load for each
    repeats  of a kernel, the accesses to shared memory of which ncu counts more wavefronts, and another number in each launch
    differs  other counters, and why: `of` has names of NAMES
"""

import functools
import json

import gpu_block
import rungs

RESULTS = rungs.ROOT / "docs/results"
NCU, LENS = "h200-lens-ncu.json", "lens-cuda-products.json"
PIECES = {"global": "sectors", "shared": "wavefronts"}
NAMES = tuple(f"{memory} {access} {what}" for memory in PIECES for access in ("load", "store") for what in ("requests", PIECES[memory]))
JOINED = ("shared load requests", "shared load wavefronts")  # of the loads as nvcc joins them
VECTOR = 16  # bytes of a joined load
ELEMENT = {"f32": 4, "f64": 8}


@functools.lru_cache(None)
def measured_by_ncu():
    return json.loads((RESULTS / NCU).read_text(encoding="utf-8"))


@functools.lru_cache(None)
def counted_by_lens():
    file = RESULTS / LENS
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"kernels": {}}


def keep(counted):
    """Puts the sums of these kernels into the file."""
    known = {**counted_by_lens()["kernels"], **counted}
    rows = ",\n".join(f'"{kernel}":{json.dumps(known[kernel], separators=(",", ":"))}' for kernel in measured_by_ncu()["kernels"] if kernel in known)
    columns = json.dumps([*NAMES, *(f"{name}, joined" for name in JOINED)], separators=(",", ":"))
    (RESULTS / LENS).write_text(f'{{"schema":"tessera.lens_counts/1","columns":{columns},"kernels":{{\n{rows}\n}}}}\n', encoding="utf-8")


@functools.lru_cache(None)
def entries():
    """{kernel: the entry `ncu` of its rung}."""
    return {kernel: (rung.prose or {}).get("ncu", {}) for rung in rungs.read_ladder("cuda") for kernel in rung.kernels}


def sums_of(lines, kernel, k):
    """What the lens counted of a launch, in the order of NAMES; then the shared loads as nvcc joins them, where it does."""
    total = lambda access, what: sum(line[what] for line in lines if line["access"] == access)
    sums = [total(*name.rsplit(" ", 1)) for name in NAMES]
    array = entries()[kernel].get("joined")
    if array:
        change = [joined(line, k) for line in lines if line["access"] == "shared load" and line["array"] == array]
        sums += [sums[NAMES.index(name)] + sum(one[at] for one in change) for at, name in enumerate(JOINED)]
    return sums


def joined(line, k):
    """What joining changes of a line's requests and wavefronts. Its loads are in runs of neighbours: along k, or as long as a
    tile, which whole vectors fill. A run's last vector may reach over its end."""
    sample = line["sample"]
    width = VECTOR // sample["size"]
    run = k if line["array"] == "dynamic shared memory" else width
    requests = line["requests"] // run * -(-run // width)
    words = [address // 4 for address in sample["addresses"]]  # of a warp whose lanes all take part
    waves = sum(max(len(found) for found in banks.values()) for banks in gpu_block.wavefronts(words, VECTOR // 4))
    return requests - line["requests"], requests * waves - line["wavefronts"]


class Product:
    """A product of a kernel: `lens` has the lens's counts by NAMES, with loads joined where nvcc does it, `source` without,
    and `ncu` has each launch's."""

    def __init__(self, kernel, name, sums, launches):
        self.kernel, self.name = kernel, name
        self.dtype, transposes, self.n = name.split()
        self.transposes = transposes == "both"
        self.words = f"{self.dtype}, n = {self.n}" + (", both transposed" if self.transposes else "")
        self.source = dict(zip(NAMES, sums))
        self.lens = {**self.source, **dict(zip(JOINED, sums[len(NAMES):]))}
        self.ncu = [dict(zip(NAMES, launch)) for launch in launches]

    def other(self):
        """{name: [ncu's count of each launch]} of what is not equal in all of them."""
        return {name: [launch[name] for launch in self.ncu] for name in NAMES if any(launch[name] != self.lens[name] for launch in self.ncu)}


def products(kernel):
    counted = counted_by_lens()["kernels"].get(kernel, {})
    return [Product(kernel, name, counted[name], launches)
            for name, launches in measured_by_ncu()["kernels"].get(kernel, {}).items() if name in counted]


def repeats(kernel):
    """{access: [ncu's wavefronts over the lens's, of each launch that has more]} where an entry says so."""
    found = {}
    for access in entries()[kernel].get("repeats", {}).get(kernel, ()):
        name = f"{access} wavefronts"
        found[access] = [count / product.lens[name] for product in products(kernel) for count in product.other().get(name, ())]
    return found


def differences(kernel):
    """[(product, name, lens, [ncu's counts])] of what the entry's `differs` explains, and what nothing explains."""
    repeated = {f"{access} wavefronts" for access in entries()[kernel].get("repeats", {}).get(kernel, ())}
    explained = {name for names in entries()[kernel].get("differs", ()) for name in names["of"]}
    rows, unexplained = [], []
    for product in products(kernel):
        for name, counts in product.other().items():
            row = (product, name, product.lens[name], counts)
            if name in explained:
                rows.append(row)
            elif name not in repeated or min(counts) < product.lens[name]:
                unexplained.append(row)
    return rows, unexplained
