"""What a block of a CUDA rung does: its threads, the results of each lane, and what a warp reads and stores.

All of it follows from the constants and expressions of the rung's source; shared memory is of 32-bit words.
"""

import functools
import re
import types

from cpp_values import NoValue, split_top

SHOWN_N = 256  # n of the product that expressions are evaluated for
SECTOR, BANKS, LANES = 32, 32, 32


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
    if operand == "A" and re.search(r"AsyncTileLoader<[^;]*along == Along::K", block.rung.code):
        width = 1  # elements that change their place on the way are copied one by one
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


def layout(block, name):
    """(rows, row length, order) of a tile in shared memory: order is "mk" or "km" for A."""
    match = re.search(rf"PaddedTile<T, ([^;]*?)> {name};", block.rung.code)
    try:
        if match:
            parts = [int(block.scope.value(part)) for part in match[1].split(",")]
            return parts[0], parts[1] + (parts[2] if len(parts) > 2 else 0)
        match = re.search(rf"\bT (?:{name}|{name[0]})((?:\[[^\]]*\]){{2,}})", block.rung.code)
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
            found.append(("transposed A, store", kind, [lane % lines * length + lane // lines for lane in range(LANES)], 1))
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
