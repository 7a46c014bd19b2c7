"""Pictures of a CUDA rung: which part of A and B a block reads, which sectors a warp touches, and which banks."""

from drawing import Picture
from gpu_block import BANKS, LANES, SECTOR, SHOWN_N, block_of, first_load, sectors_of, shared_accesses, wavefronts


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
    places = [place for place in map(block.place, range(LANES)) if place]
    for down, across in places:
        side = max(1.0, scale)
        picture.rect(cx + col + across * scale, cy + row + down * scale, side, side, "c")
    y = ay + size + 20
    reuse = f"{block.threads} threads, {block.results} result{'s' if block.results > 1 else ''} each. "
    if block.shared and not whole_k:
        reuse += f"For {k} steps of k the block copies {m}×{k} of A and {k}×{n} of B: it uses an element of A {n} times, one of B {m} times."
    elif block.shared:
        reuse += f"The block copies the row of A once; an element of B serves {m} result."
    else:
        reuse += f"Nothing is kept: in each step of k a thread reads an element of A and one of B. In the caches an element of A serves {n} results, one of B {m}."
    y = picture.lines(12, y, reuse, 60)
    dark = [] if whole_k else ["in A and B what is copied at a time"]
    dark += ["in C the first result of each lane of the first warp"] if places else []
    if dark:
        y = picture.lines(12, y, f"Full colour: {'; '.join(dark)}.", 64, 11, "dim")
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
