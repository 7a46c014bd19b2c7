"""The work of a product as the kernels count it: operations, accesses of elements, and bytes.

A kernel's `.traffic` names one of these functions (include/tessera/backend/traffic.hpp, backends/cuda/gemm/common
and backends/cpu/gemm/textbook). agrees() compares them with what gemm_compare wrote into a document of results.
"""

import math

SEGMENT = 1024
LINE, SECTOR, LANES = 64, 32, 32
ROW_BYTES = 48 * 1024


class Product:
    """m, n, k, bytes of an element, and the tile of the kernel."""

    def __init__(self, m, n, k, element, tile, compensated=False):
        self.m, self.n, self.k, self.element = m, n, k, element
        self.tile = tile
        self.operations = 2.0 * m * n * k * (4 if compensated else 1)
        self.a, self.b, self.c = float(m * k), float(k * n), float(m * n)


class Work:
    def __init__(self, operations, accesses, bytes_moved):
        self.operations, self.accesses, self.bytes = operations, accesses, bytes_moved

    @property
    def intensity(self):
        return self.operations / self.bytes

    def seconds(self, flops, bandwidth):
        """The roofline's time: what takes longer binds."""
        return max(self.operations / flops, self.bytes / bandwidth)


def passes(extent, tile):
    return math.ceil(extent / (tile or 1))


def compulsory(p):
    moved = p.a + p.b + p.c
    return Work(p.operations, moved, moved * p.element)


def tile_traffic(p):
    loads = p.a * passes(p.n, p.tile[1]) + p.b * passes(p.m, p.tile[0])
    return Work(p.operations, loads + p.c, (loads + p.c) * p.element)


def with_copies(work, p, elements):
    return Work(work.operations, work.accesses + 2 * elements, work.bytes + 2 * elements * p.element)


def threads(p, a, b, c):
    products = p.a * p.n
    return Work(p.operations, 2 * products + p.c, products * (a + b) + p.c * c)


def padded(p):
    whole = lambda extent, tile: math.ceil(extent / tile) * tile
    m, n, k = (whole(extent, tile) for extent, tile in zip((p.m, p.n, p.k), p.tile))
    loads = m * k * passes(p.n, p.tile[1]) + k * n * passes(p.m, p.tile[0])
    elements = p.a + p.b + m * k + k * n + loads
    return Work(p.operations, elements + p.c, (elements + p.c) * p.element)


def rows(p):
    most = ROW_BYTES // p.element // SEGMENT * SEGMENT
    a = p.a * (passes(p.n, p.tile[1]) if p.k > most else 1)
    moved = a + p.b * p.m + p.c
    return Work(p.operations, moved, moved * p.element)


def naive(p):
    products = p.a * p.n
    return Work(p.operations, 4 * products + p.c, products * (p.element + LINE) + p.c * p.element)


def blocked(p):
    accesses = with_copies(tile_traffic(p), p, p.a + p.b).accesses
    return Work(p.operations, accesses, compulsory(p).bytes + (p.a + p.b) * p.element)


ONE = SECTOR / LANES
TRAFFIC = {
    "": compulsory,
    "tile_traffic": tile_traffic,
    "coalesced_traffic": lambda p: threads(p, ONE, p.element, p.element),
    "strided_traffic": lambda p: threads(p, SECTOR, ONE, SECTOR),
    "transposed_b_traffic": lambda p: with_copies(threads(p, ONE, SECTOR, p.element), p, p.b),
    "padded_traffic": padded,
    "row_traffic": rows,
    "segments_traffic": lambda p: with_copies(tile_traffic(p), p, p.c * passes(p.k, SEGMENT)),
    "packed_b_traffic": lambda p: with_copies(tile_traffic(p), p, p.b),
    "packed_traffic": lambda p: with_copies(tile_traffic(p), p, p.a + p.b),
    "naive_traffic": naive,
    "transposed_traffic": lambda p: with_copies(tile_traffic(p), p, p.b),
    "blocked_traffic": blocked,
}


def name_of(rung):
    """The name of the rung's function in TRAFFIC; None where the kernel counts in a way that is its own."""
    written = rung.field("traffic")
    name = written.partition("<")[0].rpartition("::")[2]
    if name == "traffic" or "row_traffic" in rung.text:
        name = "row_traffic"
    if name == "pitched_traffic" or (name not in TRAFFIC and "with_copies(coalesced_traffic" in rung.text):
        return "pitched"
    return name if name in TRAFFIC else None


def of(rung, kernel, m, n, k, element):
    """The work of a product by a rung's kernel, or None; of a sum of squares a square and an addition for each element."""
    if rung.ladder == "reduce":
        return Work(2.0 * n, n, n * element)
    name = name_of(rung)
    p = Product(m, n, k, element, rung.tile(kernel, element), rung.math == "compensated")
    if name == "pitched":
        return with_copies(TRAFFIC["coalesced_traffic"](p), p, p.a + p.b)
    return TRAFFIC[name](p) if name is not None else None


def level_of(ceiling, m, n, k, element):
    """(bytes per second, name) of the nearest memory that holds all operands, as gemm_compare's model takes it."""
    needed = (n if m == 1 and k == 1 else m * k + k * n + m * n) * element
    for cache in ceiling.get("caches", ()):
        if cache["bytes"] >= needed:
            return cache["bytes_per_second"], f"L{cache['level']}"
    return ceiling["bytes_per_second"], "memory"


def agrees(row, work):
    """Whether gemm_compare counted the same when it measured; else the kernel has changed since then."""
    known = row.get("global_accesses")
    return not work or not known or abs(known - work.accesses) <= 1e-4 * known
