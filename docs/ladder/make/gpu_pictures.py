"""Pictures of a CUDA rung: which part of A and B a block reads, which sectors a warp touches, and which banks."""

import functools
import re
import types

from cpp_values import NoValue, split_top
from drawing import Picture

SHOWN_N = 256  # the matrices of the picture, to scale
SECTOR, WORD, BANKS, LANES = 32, 4, 32, 32


class Block:
    """What a block of the rung does, from its constants: threads, and the place of a thread in C."""

    def __init__(self, rung, kernel):
        self.rung, self.kernel = rung, kernel
        self.element = rung.element(kernel)
        self.scope = rung.scope(kernel, self.element)
        if "S" not in self.scope and "Tiles" in self.scope:
            self.scope.known["S"] = self.scope["Tiles"]
        self.text = "\n".join([rung.code, *self.scope.texts[1:]])
        self.m, self.n, self.k = rung.tile(kernel, self.element)
        self.threads, self.shape = self.launch()
        self.vector = 16 // self.element if re.search(r"\b(?:Vector|TileLoader|AsyncTileLoader|load_vector|float4|uint4)\b", rung.code) else 1
        self.shared = re.search(r"__shared__", rung.code) is not None

    def launch(self):
        """(threads, (x, y)) of a block: the second argument of the launch."""
        for text in (self.rung.code, *self.scope.texts[1:]):
            for match in re.finditer(r"<<<(.*?)>>>", text, re.S):
                written = split_top(match[1], ",")[1].strip()
                if named := re.search(rf"\bdim3 {re.escape(written)}(\([^;]*\));", text):
                    written = f"dim3{named[1]}"
                sizes = re.fullmatch(r"dim3\(([^,]*), ([^)]*)\)", written)
                try:
                    if sizes:
                        x, y = int(self.scope.value(sizes[1])), int(self.scope.value(sizes[2]))
                        return x * y, (x, y)
                    count = int(self.scope.value(written))
                    return count, (count, 1)
                except NoValue:
                    continue
        raise SystemExit(f"{self.rung.file}: the launch of {self.kernel} has no number of threads that can be read")

    def thread(self, lane, warp=0):
        number = warp * LANES + lane
        index = types.SimpleNamespace(x=number % self.shape[0], y=number // self.shape[0], z=0)
        return number, index

    @functools.lru_cache(None)
    def place(self, lane, warp=0):
        """(row, column) of the first result of a lane in the block's tile; None where the source does not say it in i and
        j or in row and col, as where lanes hold parts of several results."""
        if re.search(r"wmma|dmma", self.rung.code):
            return None
        found = self.found(lane, warp)
        return None if lane and found == self.found(0, warp) else found

    @functools.lru_cache(None)
    def found(self, lane, warp):
        number, index = self.thread(lane, warp)
        names = {"threadIdx": index, "thread": number, "origin": types.SimpleNamespace(row=0, col=0),
                 "blockDim": types.SimpleNamespace(x=self.shape[0], y=self.shape[1]), "blockIdx": types.SimpleNamespace(x=0, y=0),
                 "x": types.SimpleNamespace(n=SHOWN_N, m=SHOWN_N, k=SHOWN_N)}
        for text in (self.rung.code, *self.scope.texts[1:]):
            place = self.walk(text, names)
            if place:
                return place
        return None

    def walk(self, text, names):
        """Follows the statements that lead to i and j, or to row and col."""
        known = dict(names)
        found = {}
        pattern = r"\b(?:const )?(?:Index|int|auto|Place|unsigned) (\w+) = ([^;]*);|^\s*(row|col) = ([^;]*);"
        for match in re.finditer(pattern, text, re.M):
            name, expression = match[1] or match[3], match[2] or match[4]
            if name in found:
                continue
            try:
                value = self.scope.value(expression, **known)
            except NoValue:
                continue
            known[name] = value
            if name in ("i", "j", "row", "col"):
                found[name] = value
        if "row" in found and "col" in found:
            return found["row"], found["col"]
        if "i" in found and "j" in found:
            return found["i"], found["j"]
        return None

    @property
    def results(self):
        return max(1, self.m * self.n // self.threads)


@functools.lru_cache(None)
def block_of(rung, kernel):
    return Block(rung, kernel)


def first_load(block, operand):
    """The elements (line, place in the line) that the lanes of warp 0 read first of A or B, and elements a lane."""
    if not block.shared:
        places = [block.place(lane) for lane in range(LANES)]
        if None in places:
            return None
        transposed = "transposed_b" in block.rung.name
        if operand == "A":
            return [(row, 0) for row, _ in places], 1
        return [(col, 0) if transposed else (0, col) for _, col in places], 1
    width = block.vector
    if block.m == 1:
        length = block.threads
        return [(0, lane) for lane in range(LANES)], 1
    length = (block.k if operand == "A" else block.n) // width
    return [(lane // length, lane % length * width) for lane in range(LANES)], width


def sectors_of(places, width, element):
    """The sectors that a request touches: {(line, sector): set of elements}."""
    found = {}
    for line, at in places:
        for e in range(at, at + width):
            found.setdefault((line, e * element // SECTOR), set()).add(e)
    return found


def tiles_picture(rung, kernel):
    """C, A and B to scale, with what one block computes and reads."""
    block = block_of(rung, kernel)
    picture = Picture(f"{kernel}: what a block computes and reads")
    m, n, k = block.m or 1, block.n or SHOWN_N, block.k or 1
    whole_k = not block.shared or block.m == 1
    size, left, top = 132, 176, 46
    scale = size / SHOWN_N
    picture.text(12, 20, f"A block computes {m}×{n} results", 13, bold=True)
    picture.text(12, 37, f"(n = {SHOWN_N}, to scale)", 11, kind="dim")
    bx, by, ax, ay = left + 30, top, left + 30 - size - 14, top + size + 14
    cx, cy = bx, ay
    for name, x, y in (("B", bx, by), ("A", ax, ay), ("C", cx, cy)):
        picture.rect(x, y, size, size, "pale")
        if name == "A":
            picture.text(x, y - 5, "A", 12, kind="dim")
        else:
            picture.text(x + size + 5, y + 12, name, 12, kind="dim")
    height, width = max(m * scale, 1.5), max(min(n, SHOWN_N) * scale, 1.5)
    row, col = (SHOWN_N // (2 * m) * m) * scale if m < SHOWN_N else 0, 0 if n >= SHOWN_N else (SHOWN_N // (2 * n) * n) * scale
    picture.rect(ax, ay + row, size, height, "al")
    picture.rect(bx + col, by, width, size, "bl")
    if not whole_k:
        step = max(k * scale, 2)
        picture.rect(ax + 3 * step, ay + row, step, height, "a")
        picture.rect(bx + col, by + 3 * step, width, step, "b")
    picture.rect(cx + col, cy + row, width, height, "cl")
    for warp in range(max(1, block.threads // LANES)):
        for lane in range(LANES):
            place = block.place(lane, warp) if warp == 0 else None
            if place:
                side = max(1.0, scale)
                picture.rect(cx + col + place[1] * scale, cy + row + place[0] * scale, side, side, "c")
    y = ay + size + 20
    reuse = f"{block.threads} threads, {block.results} result{'s' if block.results > 1 else ''} each. "
    if block.shared and not whole_k:
        reuse += f"For {k} steps of k the block copies {m}×{k} of A and {k}×{n} of B: it uses an element of A {n} times, one of B {m} times."
    elif block.shared:
        reuse += f"The block copies the row of A once; an element of B serves {m} result."
    else:
        reuse += f"Nothing is kept: in each step of k a thread reads an element of A and one of B. In the caches an element of A serves {n} results, one of B {m}."
    y = picture.lines(12, y, reuse, 60)
    y = picture.lines(12, y, "Dark green: the first results of the 32 lanes of the first warp.", 60, 11, "dim")
    return picture.svg(y)


def sectors_picture(rung, kernel):
    """The sectors of global memory that the first loads of A and B by a warp touch."""
    block = block_of(rung, kernel)
    picture = Picture(f"{kernel}: the sectors of memory that a warp's loads touch")
    picture.text(12, 20, "What a warp reads with one instruction", 13, bold=True)
    picture.text(12, 37, f"boxes: sectors of 32 bytes, with {SECTOR // block.element} elements of {8 * block.element} bits", 11, kind="dim")
    y = 58
    counts = {}
    for operand, kind in (("A", "a"), ("B", "b")):
        load = first_load(block, operand)
        if load is None:
            return None, {}
        places, width = load
        sectors = sectors_of(places, width, block.element)
        cells = SECTOR // block.element
        used = sum(len(elements) for elements in sectors.values()) * block.element
        counts[operand] = len(sectors)
        words = f"{operand}: {len(sectors)} sector{'s' if len(sectors) > 1 else ''}, {used} of {len(sectors) * SECTOR} bytes used"
        picture.text(12, y, words, 12, kind=kind, bold=True)
        y += 8
        rows = sorted({line for line, _ in sectors})
        for at, (line, sector) in enumerate(sorted(sectors)):
            column, down = at % 4, at // 4
            x = 12 + column * 96
            top = y + down * 13
            for e in range(cells):
                kind_of = kind if sector * cells + e in sectors[line, sector] else "pale"
                picture.rect(x + e * 88 / cells, top, 88 / cells - 1, 9, kind_of)
        y += (len(sectors) + 3) // 4 * 13
        y = picture.lines(12, y + 12, lines_text(rows, places, width, operand, block), 62, 11, "dim") + 8
    return picture.svg(y), counts


def lines_text(rows, places, width, operand, block):
    line = "column" if operand == "B" and "transposed_b" in block.rung.name else "row"
    where = f"in one {line} of {operand}" if len(rows) == 1 else f"in {len(rows)} {line}s of {operand}"
    if len(set(places)) == 1:
        return f"All 32 lanes read one element {where}: one sector serves them."
    bits = f"{width * block.element * 8} bits a lane" if width > 1 else "an element a lane"
    return f"The lanes read {bits}, {where}."


def layout(block, name):
    """(rows, row length, order) of a tile in shared memory: order is "mk" or "km" for A."""
    patterns = (rf"PaddedTile<T, ([^;]*?)> {name};", rf"\bT {name}((?:\[[^\]]*\])+)")
    match = re.search(patterns[0], block.rung.code)
    try:
        if match:
            parts = [int(block.scope.value(part)) for part in match[1].split(",")]
            return parts[0], parts[1] + (parts[2] if len(parts) > 2 else 0)
        match = re.search(patterns[1], block.rung.code)
        if match:
            sizes = [int(block.scope.value(part)) for part in re.findall(r"\[([^\]]*)\]", match[1])][-2:]
            return sizes[0], sizes[1]
    except NoValue:
        pass
    return None


def shared_accesses(block):
    """The accesses of warp 0 to shared memory, as (words, kind, [address of each lane], elements a lane)."""
    found = []
    places = [block.place(lane) for lane in range(LANES)]
    for operand, name, kind, tile in (("A", "a_tile", "a", block.m), ("B", "b_tile", "b", block.n)):
        shape = layout(block, name)
        if shape is None or None in places:
            continue
        length = shape[1]
        km = operand == "B" or shape[0] == block.k and shape[0] != block.m
        load, width = first_load(block, operand)
        if operand == "A" and km:
            found.append((f"{operand}, transposing store", kind, [at * length + line for line, at in load], 1))
        else:
            found.append((f"{operand}, store", kind, [line * length + at for line, at in load], width))
        read = 4 if block.vector == 4 and km else 1
        addresses = [(row if km else row * length) if operand == "A" else col for row, col in places]
        found.append((f"{operand}, read", kind, addresses, read))
        if operand == "A" and not km and "along_row" in block.rung.code:  # lanes go down the columns of a transposed A
            lines = min(tile, LANES)
            found.append(("A stored transposed, store", kind, [lane % lines * length + lane // lines for lane in range(LANES)], 1))
    return found


def wavefronts(addresses, width):
    """For each part of a request that is served together, the lanes' words by banks: [{bank: set of words}].

    A part is the lanes that ask for 128 bytes. Two parts are one where all lanes agree with their neighbours n ^ 1, or
    all with n ^ 2 (the lens counts in the same way).
    """
    parts = width
    if parts > 1 and any(all(addresses[lane] == addresses[lane ^ apart] for lane in range(LANES)) for apart in (1, 2)):
        parts //= 2
    lanes = LANES // parts
    found = []
    for first in range(0, LANES, lanes):
        banks = {}
        for address in addresses[first : first + lanes]:
            for word in range(address, address + width):
                banks.setdefault(word % BANKS, set()).add(word)
        found.append(banks)
    return found


def banks_picture(rung, kernel):
    """The banks of shared memory that a warp's accesses meet."""
    block = block_of(rung, kernel)
    accesses = shared_accesses(block) if block.shared else []
    if not accesses:
        return None, []
    picture = Picture(f"{kernel}: the banks of shared memory that a warp's accesses meet")
    picture.text(12, 20, "Banks of shared memory", 13, bold=True)
    picture.text(12, 37, "across: the 32 banks; a line: one wavefront", 11, kind="dim")
    y, said = 56, []
    for words, kind, addresses, width in accesses:
        phases = wavefronts(addresses, width)
        needed = [max(len(lines) for lines in banks.values()) for banks in phases]
        conflicts = sum(needed) - len(phases)
        count = f"{sum(needed)} wavefront{'s' if sum(needed) > 1 else ''}"
        more = f", {conflicts} by conflicts" if conflicts else ""
        bits = ", 128 bits a lane" if width == 4 else ""
        picture.text(12, y, f"{words}{bits}: {count}{more}", 12, kind=kind, bold=True)
        y += 7
        shown = phases if conflicts else phases[:1]
        for banks, rows in zip(shown, needed):
            for row in range(min(rows, 8)):
                for bank in range(BANKS):
                    full = len(banks.get(bank, ())) > row
                    picture.rect(12 + bank * 11.7, y, 10.7, 8, ("hot" if row else kind) if full else "pale")
                y += 10
            if rows > 8:
                picture.text(12, y + 10, f"… {rows - 8} more", 11, kind="dim")
                y += 14
            y += 2
        if len(shown) < len(phases):
            picture.text(12, y + 9, f"and {len(phases) - 1} like it, of {LANES // len(phases)} lanes each", 11, kind="dim")
            y += 14
        y += 16
        said.append((words, sum(needed), conflicts))
    return picture.svg(y - 4), said
