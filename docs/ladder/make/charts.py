"""Charts of what was measured: bars, rooflines, and the ladder as a whole."""

import math

import work
from drawing import Picture
from measured import BYTES, shown
from words import digits


def rate_text(gflops):
    return f"{digits(gflops / 1000)} TFLOP/s" if gflops >= 1000 else f"{digits(gflops)} GFLOP/s"


def rate_of(run, row):
    """GFLOP/s of a product; of a sum GB/s of its elements."""
    if run.ladder == "reduce":
        return row["n"] * BYTES[run.dtype] / row["seconds"]["median"] / 1e9
    return row["gflops"]


def rate_words(run, rate):
    if run.ladder != "reduce":
        return rate_text(rate)
    return f"{digits(rate / 1000)} TB/s" if rate >= 1000 else f"{digits(rate)} GB/s"


def tick(power):
    """A power of ten of GFLOP/s or GB/s beside the scale."""
    prefix, least = next((prefix, least) for prefix, least in (("P", 6), ("T", 3), ("G", -9)) if power >= least)
    return f"{10.0 ** (power - max(least, 0)):g} {prefix}"


def companions(rung, run, n, kernel):
    """(label, row, kind) of the bars: the rung, the one before, the best one, and the vendor's library."""
    own = run.at(n, kernel)
    bars = [(kernel, own, "a")]
    if rung.before:
        before = [row for row in (run.at(n, name) for name in rung.before.kernels) if row]
        if before:
            row = min(before, key=lambda one: one["seconds"]["median"])
            bars.append((f"{row['kernel']} (before)", row, "dim"))
    for other in rung.kernels:
        if other != kernel and run.at(n, other):
            bars.append((other, run.at(n, other), "a"))
    best, vendor = run.best(n, own["math"]), run.vendor(n, own["math"])
    if best and best["kernel"] not in [row["kernel"] for _, row, _ in bars]:
        bars.append((f"{best['kernel']} (best here)", best, "c"))
    if vendor and vendor["kernel"] not in [row["kernel"] for _, row, _ in bars]:
        bars.append((f"{shown(vendor['kernel'])} (vendor)", vendor, "b"))
    return bars


def bars_picture(rung, run, n, kernel):
    """The speed of a rung beside the rung before, the best one and the vendor, and what the roofline allows it."""
    bars = companions(rung, run, n, kernel)
    own = bars[0][1]
    picture = Picture(f"{kernel}: speed on {run.title}, n = {n}")
    picture.text(12, 20, "Speed" if run.ladder != "reduce" else "Elements read a second, the call as a whole", 13, bold=True)
    sizes = f"n = {n}" if run.ladder != "reduce" else f"{n} elements"
    picture.text(12, 37, f"{run.title}, {sizes}", 11, kind="dim")
    ceiling = run.ceiling(own["math"])
    most = max(rate_of(run, row) for _, row, _ in bars)
    y = 50
    for label, row, kind in bars:
        rate = rate_of(run, row)
        picture.text(12, y + 11, label, 12, bold=row is own)
        picture.text(388, y + 11, rate_words(run, rate), 12, "end", "ink" if row is own else "dim")
        picture.rect(12, y + 16, 376, 9, "pale", 2)
        picture.rect(12, y + 16, max(1.5, 376 * rate / most), 9, kind, 2)
        y += 34
    if ceiling and run.ladder != "reduce":
        picture.text(12, y + 8, f"peak of the machine in this mode: {rate_text(ceiling['flops'] / 1e9)}", 11, kind="dim")
        y += 18
    elif ceiling:
        picture.text(12, y + 8, f"memory bandwidth of the device: {rate_words(run, ceiling['bytes_per_second'] / 1e9)}", 11, kind="dim")
        y += 18
    return picture.svg(y + 4)


def roofline_picture(rung, run, n, kernel, counted=None):
    """A rung's point under the roofs of memory, caches and arithmetic: intensity by the kernel's own count."""
    own = run.at(n, kernel)
    ceiling = run.ceiling(own["math"])
    amount = work.of(rung, kernel, own["m"], own["n"], own["k"], BYTES[run.dtype])
    if not ceiling or not amount:
        return None
    picture = Picture(f"{kernel} on the roofline of {run.title}")
    picture.text(12, 20, "Roofline", 13, bold=True)
    sizes = f"{n} elements" if run.ladder == "reduce" else f"n = {n}"
    picture.text(12, 37, f"{run.title}, {sizes}", 11, kind="dim")
    picture.text(12, 52, "across: operations a byte asked for; up: FLOP/s", 11, kind="dim")
    left, top, right, bottom = 46, 71, 388, 277
    peak = ceiling["flops"] / 1e9
    roofs = [("memory", ceiling["bytes_per_second"] / 1e9), *((f"L{c['level']}", c["bytes_per_second"] / 1e9) for c in ceiling["caches"])]
    points = [(row, kind, rung if at == 0 else rung.before) for at, (_, row, kind) in enumerate(companions(rung, run, n, kernel)) if kind in ("a", "dim") and at < 2]
    places = []  # (intensity, GFLOP/s, radius, kind)
    for row, kind, of in reversed(points):
        moved = of and row["kernel"] in of.kernels and work.of(of, row["kernel"], row["m"], row["n"], row["k"], BYTES[run.dtype])
        if moved:
            places.append((moved.intensity, row["gflops"], 5 if kind == "a" else 4, kind))
    if counted:
        places.append((amount.operations / counted, own["gflops"], 4, "c"))
    low_x, high_x = -4 if min(place[0] for place in places) >= 2.0**-4 else -6, 12
    high_y = math.ceil(math.log10(peak) + 0.15)
    low_y = high_y - (7 if run.ladder == "reduce" else 5)
    x_of = lambda i: left + (math.log2(i) - low_x) / (high_x - low_x) * (right - left)
    y_of = lambda g: bottom - (math.log10(max(g, 10**low_y)) - low_y) / (high_y - low_y) * (bottom - top)
    for power in range(low_y, high_y + 1):
        picture.line(left, y_of(10**power), right, y_of(10**power), "rule", 0.7)
        picture.text(left - 5, y_of(10**power) + 4, tick(power), 10, "end", "dim")
    for power in range(low_x, high_x + 1, 4):
        x = x_of(2.0**power)
        picture.line(x, bottom, x, bottom + 4, "line", 0.8)
        last = power == high_x
        picture.text(x + 8 * last, bottom + 16, f"{2.0**power:g}", 10, "end" if last else "middle", "dim")
    dots = [(x_of(min(max(intensity, 2.0**low_x), 2.0**high_x)), y_of(rate), radius, kind) for intensity, rate, radius, kind in places]
    named = []
    for at, (name, bandwidth) in enumerate(roofs):
        ridge = peak / bandwidth
        start = max(2.0**low_x, 10**low_y / bandwidth)
        picture.path([(x_of(start), y_of(start * bandwidth)), (x_of(ridge), y_of(peak)), (x_of(2.0**high_x), y_of(peak))],
                     "line" if at == 0 else "ds", 1.6 if at == 0 else 1.2, None if at == 0 else "4 3")
        if at == 0:
            name_memory(picture, [(x_of(i), y_of(i * bandwidth)) for i in (max(2.0 ** (low_x + 1.2), start * 1.6) * 2**up for up in range(4))], dots)
        elif left + 6 < x_of(ridge) < right - 100 and all(abs(x_of(ridge) - x) > 15 for x in named):
            named.append(x_of(ridge))
            picture.text(x_of(ridge), y_of(peak) - 6, name, 10, "middle", "dim")
    picture.text(right, y_of(peak) - 6, f"peak {rate_text(peak)}", 10, "end", "dim")
    for dot in dots:
        picture.dot(*dot)
    y = bottom + 34
    picture.dot(18, y - 4, 5, "a")
    picture.text(28, y, f"{kernel}: {digits(amount.intensity)} operations a byte", 11)
    if any(kind == "dim" for _, _, _, kind in places):
        picture.dot(18, y + 13, 4, "dim")
        picture.text(28, y + 17, f"{points[1][0]['kernel']}, the rung before", 11, kind="dim")
        y += 17
    if counted:
        picture.dot(18, y + 13, 4, "c")
        picture.text(28, y + 17, "the same by the bytes that memory moved (ncu)", 11, kind="dim")
        y += 17
    return picture.svg(y + 12)


def name_memory(picture, places, dots):
    """Writes the name of memory's roof below the first of some places on it where no dot is in the way."""
    for x, y in ((x + 8, y + 14) for x, y in places):
        if not any(x - 6 < dot_x < x + 51 and y - 15 < dot_y < y + 7 for dot_x, dot_y, _, _ in dots):
            picture.text(x, y, "memory", 10, kind="dim")
            return


def ladder_picture(title, series, rows, unit, low, high):
    """Rungs from top to bottom and their speed across, on a logarithmic scale.

    A row is (words, kind): a heading, a rung of the main line, whose neighbours are joined, or one that stands alone. A
    series is (name, colour, shape, {row: rate}). A square goes around a dot, so that both are seen where they meet.
    """
    width = 440
    picture = Picture(title, width)
    left, right, step = 200, width - 24, 20
    top = 40 + 18 * len(series)
    x_of = lambda rate: left + (math.log10(rate) - low) / (high - low) * (right - left)
    picture.text(14, 24, title, 14, bold=True)
    for at, (name, kind, shape, _) in enumerate(series):
        mark(picture, 20, 42 + at * 18, kind, shape)
        picture.text(32, 46 + at * 18, name, 12)
    bottom = top + 14 + step * len(rows)
    for power in range(low, high + 1):
        x = x_of(10**power)
        picture.line(x, top, x, bottom, "rule", 0.8)
        if (power - low) % 2 == 0 or (right - left) / (high - low) > 40:
            picture.text(x, bottom + 16, tick(power), 11, "middle", "dim")
    picture.text(14, bottom + 16, unit, 11, kind="dim")
    for at, (words, kind) in enumerate(rows):
        y = top + 14 + at * step + step / 2
        picture.text(14, y + 4, words, 12, bold=kind == "heading")
        if kind != "heading":
            picture.line(left, y, right, y, "rule", 0.4)
    for name, kind, shape, rates in series:
        place = lambda at: (x_of(rates[at]), top + 14 + at * step + step / 2)
        joined = [at for at in sorted(rates) if rows[at][1] == "main"]
        for at, then in zip(joined, joined[1:]):
            if "heading" not in [kind_of for _, kind_of in rows[at:then]]:
                picture.path([place(at), place(then)], kind[0] + "s", 1.2, "3 3" if shape == "ring" else None)
        for at in rates:
            mark(picture, *place(at), kind, shape)
    return picture.svg(bottom + 28)


def mark(picture, x, y, kind, shape):
    if shape == "square":
        corners = [(x - 6, y - 6), (x + 6, y - 6), (x + 6, y + 6), (x - 6, y + 6), (x - 6, y - 6)]
        picture.path(corners, kind[0] + "s", 1.4)
        return
    picture.dot(x, y, 4.5, kind)
    if shape == "ring":
        picture.dot(x, y, 2.4, "in")
