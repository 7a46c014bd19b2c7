#!/usr/bin/env python3
"""Makes the tables of docs/modes.md, and docs/results/modes.svg, from the committed results. Python 3.9 is enough.

    make_modes.py           writes the tables after the marks of docs/modes.md, and modes.svg
    make_modes.py --check   writes nothing; ends with status 1 if one of them is not what it would write

Errors are those of mode-errors.json, which measure_modes.py writes; docs/modes.md names the files of the times.
"""

import functools
import math
import re
import sys

import make_performance as charts
from make_performance import mean, number, read, text

PAGE = charts.RESULTS.parent / "modes.md"
PICTURE = charts.RESULTS / "modes.svg"

SIDES = (1024, 2048, 4096, 8192)
VENDOR = ("cublas", "cublas_lt")
SGEMM = ({"math": "strict", "dtype": "f32"}, VENDOR)
DGEMM = ({"math": "strict", "dtype": "f64"}, VENDOR)
#: Files with times of f32, the first one that has a side counts, and the kernels that a call in a mode runs.
F32_FILES = ("h100-house-cpu-gpu-f32", "h100-house-f32-modes")
F32_KERNELS = {
    "strict": "stream_k", "tf32": "wgmma_tf32", "bf16": "wgmma_bf16", "fp16": "wgmma_fp16", "compensated": "kahan_tile",
    "emulated_fp16x3": "emulated_fp16x3", "emulated_bf16x6": "emulated_bf16x6",
}
NEED_SPEED = "its speed beside NVIDIA's product of the type"
WORDS = {"mode", "beside", NEED_SPEED} # headings of columns without numbers, besides the first one


@functools.cache
def results(file):
    return read(f"{file}.json")["results"]


def seconds(file, n, names, wanted):
    """The least median of the kernels of these names on a GPU, for a square product; None where the file has none."""
    found = []
    for row in results(file):
        timed = row.get("seconds") or row.get("plain_seconds")
        if (row["m"], row["n"], row["k"], row["trans_a"], row["trans_b"]) == (n, n, n, False, False) and timed and \
                row.get("backend", "cuda") == "cuda" and row.get("kernel", row.get("peer")) in names and \
                all(row[key] == value for key, value in wanted.items()):
            found.append(timed["median"])
    return min(found, default=None)


def ratios(files, ours, theirs):
    """{side: the vendor's time over the mode's}, of the first file that has both."""
    found = {}
    for n in SIDES:
        for file in files:
            times = [seconds(file, n, names, wanted) for wanted, names in (ours, theirs)]
            if None not in times:
                found.setdefault(n, times[1] / times[0])
    return found


def scaled_fp16():
    return {row["n"]: row for row in results("h200-scaled_fp16")}


def squares():
    """{(operands, mode): (vendor's product, {side: its time over the mode's})}."""
    found = {}
    for mode, kernel in F32_KERNELS.items():
        found["f32", mode] = "SGEMM", ratios(F32_FILES, ({"math": mode, "dtype": "f32"}, (kernel,)), SGEMM)
    found["f32", "scaled_fp16"] = "TF32", {n: row["ratio"] for n, row in scaled_fp16().items()}
    found["f64", "strict"] = "DGEMM", ratios(["h100-house-f64"], (DGEMM[0], ("stream_k",)), DGEMM)
    found["f64", "int8_units"] = "DGEMM", ratios(["h200-int8_units"], ({}, ("tessera",)), ({}, VENDOR))
    kahan = {"math": "compensated"}, ("kahan_tile",)
    found["f64", "compensated"] = "DGEMM", ratios(["h200-ladder-f64"], kahan, DGEMM)
    return found


def errors():
    return {(row["dtype"], row["mode"]): row["errors"] for row in results("mode-errors")}


# The tables.


def table(lines):
    rule = ["---" if column == 0 or heading in WORDS else "---:" for column, heading in enumerate(lines[0])]
    head, *rest = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join([head, "|" + "|".join(rule) + "|", *rest])


def error_text(error):
    if error is None:
        return "Inf or NaN"
    digits, exponent = f"{error:.1e}".split("e")
    return f"{digits}·10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def measured_table():
    lines = [["mode, operands", "normal", "uniform", "Student's t", "±2^x", "beside"] + [f"{n}³" for n in SIDES]]
    timed = squares()
    for (dtype, mode), found in errors().items():
        beside, speed = timed.get((dtype, mode), ("–", {}))
        lines.append([f"`{mode}`, {dtype}"] + [error_text(error) for error in found] + [beside]
                     + [number(speed.get(n)) for n in SIDES])
    return table(lines)


def device_times(file):
    """{product: Tessera's time on the device} of products of random shapes."""
    return {tuple(row[key] for key in ("seed", "m", "n", "k", "trans_a", "trans_b")): row["graph_seconds"]["median"]
            for row in results(file) if row["peer"] == "tessera" and "graph_seconds" in row}


def size_table():
    """The strict product's time over the mode's, by the size of the product."""
    strict = device_times("h100-random-f32")
    modes = {"tf32": device_times("h100-random-tf32"), "emulated_fp16x3": device_times("h100-random-fp16x3")}
    lines = [["m·n·k", "products"] + [f"`{mode}`, {what}" for mode in modes for what in ("mean", "least")]]
    limits = [("below 10⁸", 0, 1e8), ("10⁸ to 10⁹", 1e8, 1e9), ("10⁹ to 4·10⁹", 1e9, 4e9), ("above", 4e9, math.inf)]
    for words, least, most in limits:
        products = [product for product in strict if least <= product[1] * product[2] * product[3] < most]
        found = [[strict[product] / times[product] for product in products] for times in modes.values()]
        lines.append([words, str(len(products))] + [number(x) for each in found for x in (mean(each), min(each))])
    return table(lines)


def processor_table():
    """The strict kernel's time over the mode's on processors, the faster of OpenMP and TBB."""
    sides = (1024, 2048, 4096)

    def best(file, n, *wanted):
        return min(row["seconds"]["median"] for row in results(file) if (row["m"], row["n"], row["k"]) == (n, n, n)
                   and (row["dtype"], row["kernel"], row["threads"]) == wanted)

    def speeds(file, dtype, kernel, threads):
        return [number(best(file, n, dtype, "simd", threads) / best(file, n, dtype, kernel, threads)) for n in sides]

    lines = [["mode, operands, processor"] + [f"{n}³, {words}" for words in ("1 thread", "all threads") for n in sides]]
    for mode, kernel in (("bf16", "amx_bf16"), ("emulated_bf16x6", "amx_bf16x6")):
        lines.append([f"`{mode}`, f32, Xeon with AMX, 16 threads", *speeds("xeon-amx-1-thread", "f32", kernel, 1),
                      *speeds("xeon-amx-16-threads", "f32", kernel, 16)])
    for dtype in ("f32", "f64"):
        found = [speeds("zen4-2c-strassen", dtype, "strassen", threads) for threads in (1, 2)]
        lines.append([f"`strassen`, {dtype}, EPYC (Zen 4), 2 threads", *found[0], *found[1]])
    return table(lines)


def need_table():
    timed = squares()

    def speed(mode, dtype="f32", n=4096, digits=1):
        return number(timed[dtype, mode][1][n], digits)

    doubles = ", ".join(f"{speed('int8_units', 'f64', n)} at {n}³" for n in (2048, 4096, 8192))
    return table([
        ["you need", "mode", NEED_SPEED],
        ["the same bits on every machine, with the type's accuracy", "`strict`, the default",
         f"{speed('strict', digits=2)} times SGEMM's and {speed('strict', 'f64', digits=2)} times DGEMM's at 4096³"],
        ["f32's accuracy, large products", "`emulated_fp16x3`",
         f"{speed('emulated_fp16x3')} times SGEMM's at 4096³; below m·n·k = 10⁹ `strict` is faster"],
        ["the same for small elements beside large ones in a row (2¹⁷ apart)", "`emulated_bf16x6`",
         f"{speed('emulated_bf16x6')} times SGEMM's at 4096³"],
        ["three digits of f32 operands", "`tf32`", f"{speed('tf32')} times SGEMM's at 4096³; from m·n·k = 10⁸ on"],
        ["about half of TF32's error, and no bias", "`scaled_fp16`",
         f"{speed('scaled_fp16', digits=2)} times TF32's at 4096³, {speed('scaled_fp16', n=2048, digits=2)} at 2048³"],
        ["products of 16-bit matrices", "`bf16` of bf16, `fp16` of f16",
         "the vendor's ([measured](performance.md)); operands are not rounded"],
        ["f64's accuracy, k from some thousand on", "`int8_units`",
         f"{doubles} times DGEMM's; the same bits everywhere"],
        ["errors that hardly grow with k", "`compensated`", f"{speed('compensated', digits=2)} times SGEMM's at 4096³"],
        ["a product on a processor", "`strict`",
         "no mode is clearly faster, but `bf16` and `emulated_bf16x6` with AMX"],
    ])


TABLES = {"needs": need_table, "measured": measured_table, "sizes": size_table, "processors": processor_table}

# The picture: a panel for each type, a point for each mode, at 4096³.

HEIGHT, TOP, BOTTOM = 424, 46, 352
PANELS = [ # type, vendor's product, left, right, slowest, fastest, exponents of the least and the largest error, color
    ("f32", "SGEMM", 62, 590, 1 / 16, 16, -9, -3, charts.FASTER),
    ("f64", "DGEMM", 662, 900, 1 / 32, 4, -18, -15, charts.SLOWER),
]
# Where a name does not stand to the right of its point: (dx, dy, anchor).
LEFT, BELOW = (-10, 4, "end"), (0, 20, "middle")
PLACES = {("f32", "tf32"): LEFT, ("f32", "scaled_fp16"): LEFT, ("f32", "bf16"): LEFT, ("f64", "strict"): LEFT,
          ("f32", "emulated_bf16x6"): BELOW}


def points():
    """(type, mode, times the vendor's speed at 4096³, error on normal data, were both timed in one run?)."""
    known = {key: found[0] for key, found in errors().items()}
    for (dtype, mode), (beside, speed) in squares().items():
        if beside != "TF32":
            yield dtype, mode, speed[4096], known[dtype, mode], True
    sgemm = seconds("h200-ladder-f32", 4096, VENDOR, SGEMM[0])
    yield "f32", "scaled_fp16", sgemm / scaled_fp16()[4096]["seconds"], known["f32", "scaled_fp16"], False


def panel(dtype, vendor, left, right, slow, fast, low, high, color):
    x_of = lambda speed: round(left + (right - left) * math.log(speed / slow) / math.log(fast / slow), 1)
    y_of = lambda exponent: round(BOTTOM - (BOTTOM - TOP) * (exponent - low) / (high - low), 1)
    out = [text(left, TOP - 14, f"{dtype}, beside {vendor}", 12, weight="bold")]
    for exponent in range(low, high + 1):
        y = y_of(exponent)
        out.append(f'<path d="M{left} {y:g}H{right}" stroke="{charts.PALE}" stroke-width="0.8"/>')
        out.append(text(left - 6, y + 4, f'10<tspan dy="-4" font-size="8">−{-exponent}</tspan>', 10, "end"))
    for power in range(round(math.log2(slow)), round(math.log2(fast)) + 1):
        x = x_of(2.0**power)
        thick, ink = (1.2, charts.INK) if power == 0 else (0.8, charts.PALE)
        out.append(f'<path d="M{x:g} {TOP}V{BOTTOM}" stroke="{ink}" stroke-width="{thick}"/>')
        out.append(text(x, BOTTOM + 16, str(2**power) if power >= 0 else f"1/{2**-power}", 10, "middle"))
    for which, mode, speed, error, of_one_run in points():
        if which == dtype:
            x, y = x_of(speed), y_of(math.log10(error))
            shape = f'circle cx="{x:g}" cy="{y:g}" r="5"' if dtype == "f32" else \
                f'rect x="{x - 5:g}" y="{y - 5:g}" width="10" height="10"'
            fill = color if of_one_run else "#ffffff"
            out.append(f'<{shape} fill="{fill}" stroke="{color}" stroke-width="2"/>')
            dx, dy, anchor = PLACES.get((dtype, mode), (10, 4, "start"))
            out.append(text(x + dx, y + dy, mode, 11, anchor))
    return out


def picture():
    width = charts.CHART_WIDTH
    title = "Math modes at 4096³: the largest error over |A||B|, and how many times as fast as the vendor's product"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" '
           f'font-family="system-ui, sans-serif" role="img">', f"<title>{title}</title>",
           f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>']
    for one in PANELS:
        out += panel(*one)
    across = "across: times as fast as the vendor's product at 4096³, on an H100; int8_units, compensated in f64 " \
             "and the hollow point on an H200"
    upwards = "upwards: the largest error over |A||B|, k = 2048, normal data; further down is more accurate. Hollow: " \
              "SGEMM was timed in another run"
    out += [text(6, HEIGHT - 30, across), text(6, HEIGHT - 12, upwards)]
    return "\n".join(out) + "\n</svg>\n"


def page():
    """The page with the tables as they should be: each stands after its mark."""
    words = PAGE.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        mark = re.compile(rf"(<!-- {name}: made by docs/results/make_modes.py -->\n\n)(?:\|[^\n]*\n)*")
        words, times = mark.subn(lambda found: f"{found[1]}{make()}\n", words)
        if times != 1:
            sys.exit(f"docs/modes.md has {times} places for the table {name}; it needs one")
    return words


def main(arguments):
    return charts.write_or_check(arguments, __doc__, "make_modes.py", lambda: {PAGE: page(), PICTURE: picture()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
