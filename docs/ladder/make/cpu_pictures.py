"""Pictures of a rung of the processor: which cache lines its inner loop reads, and which panel lies in which cache."""

import math
import re

from drawing import Picture
from measured import BYTES

LINE = 64
STEPS = 8  # of k in the picture of lines
ROWS = 16  # lines that are shown at most


class Loops:
    """The rung's inner loop, from its constants: rows and columns in registers, and which operand is packed."""

    def __init__(self, rung):
        self.rung = rung
        self.rows, self.cols, self.depth = (max(1, size) for size in rung.tile(rung.kernels[0]))
        packs = len(re.findall(r"\bpack_columns<", rung.code))
        blocked = "blocked" in rung.field("traffic")
        self.a_packed = packs >= 2 or blocked
        self.b_packed = packs >= 1 or blocked
        self.b_transposed = "transposed" in rung.field("traffic")
        self.blocked = blocked
        self.memory_sum = "naive" in rung.field("traffic")

    def cells(self, operand, element):
        """{line of memory: cells} that STEPS steps of k read."""
        found = {}
        width = self.rows if operand == "A" else self.cols
        packed = self.a_packed if operand == "A" else self.b_packed
        along_k = operand == "A" or self.b_transposed
        for p in range(STEPS):
            for w in range(width):
                if packed:
                    place = 0, p * width + w
                elif along_k:
                    place = w, p
                else:
                    place = p, w
                cell = place[1] * element // LINE
                found.setdefault((place[0], cell), set()).add(place[1] % (LINE // element))
        return found

    def vectors(self):
        """What a vector of the inner loop holds, in words."""
        if self.cols >= 4 and (self.b_packed or self.rung.name.startswith("tiled")):
            return f"{self.cols} neighbours of B fill a vector: {self.rows * self.cols} products for {self.rows + self.cols} loads."
        if self.rows * self.cols > 1:
            return f"{self.rows}×{self.cols} sums, each a scalar: {self.rows * self.cols} products for {self.rows + self.cols} loads."
        if self.memory_sum:
            return "One product for two loads, and the sum is loaded and stored in each step."
        return "One product for two loads; the sum is one chain of additions."


def lines_picture(rung):
    """The cache lines of A and B that some steps of the inner loop touch."""
    loops = Loops(rung)
    element = 4
    across = LINE // element
    picture = Picture(f"{rung.name}: the cache lines that the inner loop reads")
    picture.text(12, 20, f"What {STEPS} steps of k read", 13, bold=True)
    picture.text(12, 37, f"boxes: cache lines of {LINE} bytes, with {across} elements of f32", 11, kind="dim")
    y = 58
    for operand, kind, packed in (("A", "a", loops.a_packed), ("B", "b", loops.b_packed)):
        cells = loops.cells(operand, element)
        used = sum(map(len, cells.values())) * element
        how = ", packed" if packed else ", transposed first" if operand == "B" and loops.b_transposed else ""
        count = f"{len(cells)} line{'s' if len(cells) > 1 else ''}"
        picture.text(12, y, f"{operand}{how}: {count}, {used} of {len(cells) * LINE} bytes used", 12, kind=kind, bold=True)
        y += 8
        for at, key in enumerate(sorted(cells)[:ROWS]):
            x, top = 12 + at % 2 * 190, y + at // 2 * 13
            for e in range(across):
                picture.rect(x + e * 11.3, top, 10.3, 9, kind if e in cells[key] else "pale")
        y += (min(len(cells), ROWS) + 1) // 2 * 13 + 18
    y = picture.lines(12, y, loops.vectors(), 58)
    return picture.svg(y)


def blocks(rung, n, depth, element, device):
    """Bytes of the block of A and of the panel of B, by the fractions of the caches that the source has."""
    block = re.search(r"l2_bytes_of\(machine\) \* (\d+) / (\d+)", rung.text)
    panel = re.search(r"l3 / (\d+), Index{(\d+)} << 20", rung.text)
    if not block or not panel:
        raise SystemExit(f"{rung.file}: the sizes of its blocks cannot be read; docs/ladder/make/cpu_pictures.py looks for fractions of L2 and L3")
    whole = n * depth * element
    return (min(device["l2_bytes"] * int(block[1]) // int(block[2]), whole), min(device["l3_bytes"] // int(panel[1]), int(panel[2]) << 20, whole))


def panels(rung, n, element, device):
    """(words, bytes, kind) of what has to stay in a cache so that its elements are loaded from memory once."""
    loops = Loops(rung)
    whole = n * n * element
    if rung.name == "strassen":
        return [("a quarter of a matrix", whole // 4, "a"), ("A, B and C", 3 * whole, "c")]
    if loops.blocked:
        depth = min(n, loops.depth)
        block, panel = blocks(rung, n, depth, element, device)
        return [("strip of A", loops.rows * depth * element, "a"), ("strip of B", loops.cols * depth * element, "b"),
                ("block of A", block, "a"), ("panel of B", panel, "b"), ("A, B and C", 3 * whole, "c")]
    if rung.name.startswith("tiled"):
        return [("three 4×4 sub-matrices", 3 * loops.rows * loops.cols * element, "a"), ("four rows of A", loops.rows * n * element, "a"),
                ("all of B", whole, "b")]
    found = [(f"{loops.rows} row{'s' if loops.rows > 1 else ''} of A", loops.rows * n * element, "a")]
    if loops.b_packed:
        found.append((f"strip of {loops.cols} columns of B", loops.cols * n * element, "b"))
    elif loops.b_transposed:
        found.append(("a row of B transposed", n * element, "b"))
    else:
        found.append(("a column of B, a line each", n * LINE, "b"))
    if loops.b_packed and loops.rows == 1:
        found.append(("rows of A of a thread", whole, "a"))
    return [*found, ("all of B", whole, "b")]


def size_text(size):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


def caches_picture(rung, run, n):
    """Panels beside the sizes of the machine's caches, on a logarithmic scale."""
    element = BYTES[run.dtype]
    picture = Picture(f"{rung.name}: which panel lies in which cache")
    picture.text(12, 20, f"Which panel fits which cache at n = {n}", 13, bold=True)
    picture.text(12, 37, f"{run.name}, {run.dtype}; across: bytes, each mark is four times the one before", 11, kind="dim")
    low, high = 5, 30
    x_of = lambda size: 14 + (math.log2(max(size, 1)) - low) / (high - low) * 372
    rows = panels(rung, n, element, run.device)
    top, height = 62, 30
    caches = [(name, run.device.get(key)) for name, key in (("L1", "l1_bytes"), ("L2", "l2_bytes"), ("L3", "l3_bytes")) if run.device.get(key)]
    bottom = top + height * len(rows)
    for name, size in caches:
        picture.text(x_of(size), top - 8, name, 11, "middle")
    for bits in range(low + 1, high + 1, 2):
        picture.line(x_of(1 << bits), bottom, x_of(1 << bits), bottom + 4, "line")
    for bits in (10, 20, 30):
        picture.text(x_of(1 << bits), bottom + 17, size_text(1 << bits), 11, "end" if bits == 30 else "middle", "dim")
    for at, (words, size, kind) in enumerate(rows):
        y = top + at * height
        picture.rect(14, y + 14, max(2, x_of(size) - 14), 9, kind)
        for _, limit in caches:  # not through the words
            picture.line(x_of(limit), y + 13, x_of(limit), y + 24, "line")
        fits = next((name for name, limit in caches if size <= limit), "memory")
        picture.text(14, y + 10, f"{words}: {size_text(size)}, {fits}", 11)
    return picture.svg(bottom + 26)
