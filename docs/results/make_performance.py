#!/usr/bin/env python3
"""Makes docs/performance.md and its charts from the committed results of this folder. It needs nothing but Python 3.9.

    make_performance.py           writes docs/performance.md and docs/results/performance-*.svg
    make_performance.py --check   writes nothing; ends with status 1 if one of them is not what it would write

A section of the page is a machine: a chart and a table of products of random shapes, beside the other libraries of the
same run; the last one is the OpenCL backend's. To show a newer run, replace its JSON file under the same name and run this program again.
"""

import argparse
import collections
import json
import math
import pathlib
import statistics
import sys

RESULTS = pathlib.Path(__file__).resolve().parent
PAGE = RESULTS.parent / "performance.md"

Measured = collections.namedtuple("Measured", "shape work ratio peers tessera_rate peer_rate graph host")
Machine = collections.namedtuple("Machine", "key title libraries modes threads command note")

GPU_MODES = {
    "f32": "f32, strict",
    "f64": "f64, strict",
    "tf32": "tf32",
    "bf16": "bf16",
    "fp16": "fp16",
    "fp16x3": "`emulated_fp16x3` beside SGEMM",
}
CPU_LIBRARIES = {"scipy_openblas": "OpenBLAS", "mkl_rt": "MKL", "blis": "BLIS", "dnnl": "oneDNN"}
GPU_COMMAND = """gemm_bench peers --gpu --random 60 --seed 1,2,3 --dtype f32,f64,tf32,bf16,fp16,fp16x3 --rounds 3 --sample-ms 2"""
CPU_COMMAND = """gemm_bench peers --random 60 --seed 1 --dtype f32,f64 --threads 1,2 --rounds 3 --rest-ms 60 --library …"""

MACHINES = [
    Machine("h100", "NVIDIA H100", "cuBLAS and cuBLASLt 13.1", GPU_MODES, None, GPU_COMMAND,
            "Sixteen cores of a shared host launch the products. Hosts differ by half in the time that a call takes, and so "
            "do the means of plain calls."),
    Machine("h200", "NVIDIA H200", "cuBLAS and cuBLASLt 13.1", GPU_MODES, None, GPU_COMMAND,
            "The row of `emulated_fp16x3` is of a run of 2026-11-30, with alpha and beta drawn at random, too."),
    Machine("xeon", "Intel Xeon with AVX-512, 2 cores", "MKL 2026.2, OpenBLAS 0.3.34, BLIS 4 and oneDNN 3.2", None, (1, 2),
            CPU_COMMAND, "A virtual machine of a shared host, whose clock moves: ratios count. The processor is of family 6, model 207."),
    Machine("zen4", "AMD EPYC (Zen 4), 2 cores", "MKL 2026, OpenBLAS 0.3.34, BLIS 0.9.0 and oneDNN 3.13", None, (1, 2),
            CPU_COMMAND, "A virtual machine with little else running. The host is shared and its clock moves by a sixth: ratios count."),
]

INTRODUCTION = """\
# Performance

This page shows how fast Tessera is beside the vendor's libraries, on four machines. Each section has a chart and a
table of **one method**: products of random shapes and transposes, as a program calls them, with no kernel named. A
program meets odd sizes, few rows and short sums, which a list of large squares hides.

<!-- docs/results/make_performance.py makes this page from the JSON files of docs/results. Change that program. -->

- **A ratio** is the other library's time over Tessera's: above 1 Tessera is faster.
- **best**: the geometric mean of the ratios to the fastest of the other libraries, product by product. It compares with
  a program that always knows which library to call. On a GPU the others are cuBLAS's default and the fastest of eight
  algorithms from cuBLASLt's heuristics list, each of which was timed. The columns with a library's name are the means
  over that library alone.
- Calls follow one another as a program makes them, so that short products on a GPU wait for the host. **graphs** are
  the device's time alone, and **host** is the median of the host's time for a call of Tessera.
- **tenth** is the ratio that nine of ten products reach, and **least** the worst product of all, with its m×n×k and
  transposes (NT: B is transposed).
- **TFLOP/s** or **GFLOP/s** is the most that Tessera reached in any of the products, and **theirs** the most of the
  others.
- All kernels of a run take turns, operands rotate past the caches, times are medians, and every result is checked in
  the run. In strict mode the results are bitwise reproducible ([contract](contract.md)); none of the other libraries
  promises equal bits on a processor and on a GPU.

[docs/results](results/README.md) has the files and [docs/lab](lab/README.md) the experiments: [more tables of the same
machines](lab/tables.md) (squares, layers of language models, batches, several GPUs, Intel's AMX), the [published
experiments](lab/presets.md) run again, and [why products of random shapes are where they are](lab/random_shapes.md).
[Which mode for what](modes.md) has the error of each mode beside its speed.
"""


def read(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def shape_text(key):
    m, n, k, trans_a, trans_b = key
    return f"{m}×{n}×{k} {'T' if trans_a else 'N'}{'T' if trans_b else 'N'}"


def groups(rows, time_of):
    """The rows of each product, in the order of the file; peers that could not run are left out."""
    found = {}
    for row in rows:
        if time_of(row) is not None:
            key = (row.get("seed"), row["m"], row["n"], row["k"], row["trans_a"], row["trans_b"])
            found.setdefault(key, {})[row["peer"]] = row
    return found.items()


def measured(rows, time_of, is_peer):
    products = []
    for key, by_peer in groups(rows, time_of):
        ours = min((row for name, row in by_peer.items() if name.startswith("tessera")), key=time_of)
        peers = {name: time_of(row) for name, row in by_peer.items() if is_peer(name)}
        best = min(peers, key=peers.get)
        work = key[1] * key[2] * key[3]
        graph = None
        if "graph_seconds" in ours:
            graph = min(by_peer[name]["graph_seconds"]["median"] for name in peers) / ours["graph_seconds"]["median"]
        host = ours["host_seconds"]["median"] if "host_seconds" in ours else None
        products.append(Measured(key[1:], work, peers[best] / time_of(ours),
                                 {name: seconds / time_of(ours) for name, seconds in peers.items()},
                                 2 * work / time_of(ours), 2 * work / peers[best], graph, host))
    return products


def mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def tenth(ratios):
    ordered = sorted(ratios)
    return ordered[len(ordered) // 10]


def number(x, digits=2):
    return "–" if x is None else f"{x:.{digits}f}"


def three_digits(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}"


def panels_of(machine):
    """(heading, products) of each panel of the chart and row of the table, and the machine's description."""
    panels = []
    if machine.modes:
        for mode, heading in machine.modes.items():
            document = read(f"{machine.key}-random-{mode}.json")
            rows = [row for row in document["results"] if row["mode"] == mode]
            time_of = lambda row: row["plain_seconds"]["median"] if "plain_seconds" in row else None
            panels.append((heading, measured(rows, time_of, lambda name: name.startswith("cublas"))))
    else:
        document = read(f"{machine.key}-2c-random.json")
        time_of = lambda row: row["seconds"]["median"] if "seconds" in row else None
        for dtype in ("f32", "f64"):
            for threads in machine.threads:
                rows = [row for row in document["results"] if row["dtype"] == dtype and row["threads"] == threads]
                heading = f"{dtype}, {threads} thread{'s' if threads > 1 else ''}"
                panels.append((heading, measured(rows, time_of, lambda name: name in CPU_LIBRARIES)))
    return panels, document["machine"]


# The chart: a panel for each mode, a dot for each product.

CHART_WIDTH, PANEL_HEIGHT, GAP, LEFT, TOP, FOOT = 920, 168, (24, 52), 44, 30, 62
LOW, HIGH = 0.25, 8.0
FASTER, SLOWER, INK, PALE = "#0072b2", "#d55e00", "#1a1a24", "#d8d8de"


def dots(products, x_of, y_of, color, wanted):
    places = sorted({(round(x_of(p.work), 1), round(y_of(p.ratio), 1)) for p in products if wanted(p.ratio)})
    path = "".join(f"M{x:g} {y:g}h0" for x, y in places)
    return f'<path d="{path}" stroke="{color}" stroke-width="5" stroke-linecap="round" stroke-opacity=".55" fill="none"/>' if path else ""


def text(x, y, words, size=11, anchor="start", weight="normal", color=INK):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{color}">{words}</text>'


def chart(machine, panels):
    columns = 3 if len(panels) > 4 else 2
    rows = math.ceil(len(panels) / columns)
    panel = (CHART_WIDTH - LEFT) // columns - GAP[0], PANEL_HEIGHT
    width, height = CHART_WIDTH, TOP + rows * (panel[1] + GAP[1]) - GAP[1] + FOOT
    least = 10 ** math.floor(math.log10(min(p.work for _, products in panels for p in products)))
    most = 10 ** math.ceil(math.log10(max(p.work for _, products in panels for p in products)))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'font-family="system-ui, sans-serif" role="img">',
           f"<title>{machine.title}: the best other library's time over Tessera's, a dot for each product</title>",
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for index, (heading, products) in enumerate(panels):
        left = LEFT + (index % columns) * (panel[0] + GAP[0])
        top = TOP + (index // columns) * (panel[1] + GAP[1])
        x_of = lambda work: left + panel[0] * math.log(work / least) / math.log(most / least)
        y_of = lambda ratio: top + panel[1] * math.log(HIGH / min(max(ratio, LOW), HIGH)) / math.log(HIGH / LOW)
        plain = heading.replace("`", "").replace("emulated_", "")
        out.append(text(left, top - 9, plain, 12, weight="bold"))
        out.append(text(left + panel[0], top - 9, f"mean {number(mean(p.ratio for p in products))}", 11, "end"))
        for ratio in (0.25, 0.5, 1, 2, 4, 8):
            y = round(y_of(ratio), 1)
            color, thick = (INK, 1.2) if ratio == 1 else (PALE, 0.8)
            out.append(f'<path d="M{left} {y:g}h{panel[0]}" stroke="{color}" stroke-width="{thick}"/>')
            if index % columns == 0:
                out.append(text(left - 6, y + 4, f"{ratio:g}", 10, "end"))
        exponents = range(round(math.log10(least)), round(math.log10(most)) + 1)
        for exponent in exponents:
            if exponent % 2 == 0:
                x = round(x_of(10**exponent), 1)
                out.append(f'<path d="M{x:g} {top + panel[1]}v4" stroke="{INK}" stroke-width="0.8"/>')
                out.append(text(x, top + panel[1] + 16, f'10<tspan dy="-4" font-size="8">{exponent}</tspan>', 10, "middle"))
        out.append(dots(products, x_of, y_of, FASTER, lambda ratio: ratio >= 1))
        out.append(dots(products, x_of, y_of, SLOWER, lambda ratio: ratio < 1))
    out.append(text(LEFT, height - 10, "across: multiply-adds m·n·k; upwards: the best other library's time over Tessera's", 11))
    out.append(f'<circle cx="{width - 250}" cy="{height - 14}" r="4" fill="{FASTER}"/>')
    out.append(text(width - 242, height - 10, "Tessera is faster", 11))
    out.append(f'<circle cx="{width - 130}" cy="{height - 14}" r="4" fill="{SLOWER}"/>')
    out.append(text(width - 122, height - 10, "another library is", 11))
    return "\n".join(part for part in out if part) + "\n</svg>\n"


# The page.


def table(lines):
    head, *rest = lines
    rule = ["---"] + ["---:" if column not in ("least",) else "---" for column in head[1:]]
    return "\n".join("| " + " | ".join(cells) + " |" if cells is not rule else "|" + "|".join(cells) + "|"
                     for cells in [head, rule, *rest])


def summary(products):
    ratios = [p.ratio for p in products]
    worst = min(products, key=lambda p: p.ratio)
    return number(tenth(ratios)), f"{number(worst.ratio)} at {shape_text(worst.shape)}"


def gpu_table(panels):
    lines = [["mode", "best", "cuBLAS", "best, graphs", "tenth", "host, µs", "TFLOP/s", "theirs", "least"]]
    for heading, products in panels:
        low, worst = summary(products)
        lines.append([heading, number(mean(p.ratio for p in products)),
                      number(mean(p.peers["cublas"] for p in products if "cublas" in p.peers)),
                      number(mean(p.graph for p in products)), low,
                      number(statistics.median(p.host for p in products) * 1e6, 1),
                      three_digits(max(p.tessera_rate for p in products) / 1e12),
                      three_digits(max(p.peer_rate for p in products) / 1e12), worst])
    return table(lines)


def cpu_table(panels):
    names = list(CPU_LIBRARIES)
    lines = [["type", "best"] + [CPU_LIBRARIES[name] for name in names] + ["tenth", "GFLOP/s", "theirs", "least"]]
    for heading, products in panels:
        low, worst = summary(products)
        lines.append([heading, number(mean(p.ratio for p in products))]
                     + [number(mean(p.peers[name] for p in products if name in p.peers)) for name in names]
                     + [low, three_digits(max(p.tessera_rate for p in products) / 1e9),
                        three_digits(max(p.peer_rate for p in products) / 1e9), worst])
    return table(lines)


def wrapped(words, width=120):
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def section(machine):
    panels, described = panels_of(machine)
    device = described["devices"][0]
    date = described["date"][:10]
    if machine.modes:
        where = f"{len(panels[0][1])} products a mode; {device['device']}, {device['driver']}, run of {date}, beside {machine.libraries}."
    else:
        where = f"{len(panels[0][1])} products a row; {device['device']} with {device['instruction_set']}, {described['os'].split(',')[0]}, run of {date}, beside {machine.libraries}. " \
                "Tessera's time is the time of its faster backend."
    file = f"performance-{machine.key}.svg"
    parts = [f"## {machine.title}", wrapped(f"{where} {machine.note}"), f"```sh\n{machine.command}\n```",
             f"![{machine.title}: the best other library's time over Tessera's, a dot for each product](results/{file})",
             gpu_table(panels) if machine.modes else cpu_table(panels)]
    if not machine.modes:
        parts.append(wrapped("– means that the library cannot be told to use this number of threads, or has no product of this type."))
    return file, chart(machine, panels), "\n\n".join(parts) + "\n"


def opencl_section():
    """Squares beside CLBlast and the CUDA backend's fastest strict kernel, and random shapes beside CLBlast."""
    document = read("h200-opencl.json")
    rows = [dict(zip(document["squares"]["columns"], row)) for row in document["squares"]["rows"]]

    def rate(**wanted):
        found = [row["tflops"] for row in rows if all(row[name] == value for name, value in wanted.items())]
        return three_digits(max(found)) if found else "–"

    lines = [["n", "f32 `tiled`", "CLBlast", "CUDA `stream_k`", "f64 `tiled`", "CLBlast", "CUDA `stream_k`"]]
    for n in sorted({row["n"] for row in rows}):
        lines.append([str(n)] + [rate(n=n, dtype=dtype, **row) for dtype in ("f32", "f64")
                                 for row in ({"backend": "opencl", "kernel": "tiled"}, {"kernel": "clblast"}, {"backend": "cuda", "kernel": "stream_k"})])
    random = [dict(zip(document["random"]["columns"], row)) for row in document["random"]["rows"]]
    said = []
    for dtype in ("f32", "f64"):
        ratios = [row["clblast_microseconds"] / row["tiled_microseconds"] for row in random if row["dtype"] == dtype]
        said.append(f"{number(mean(ratios))} times as long in {dtype} (geometric mean of {len(ratios)} products; the least is {number(min(ratios))})")
    device, machine = document["machine"]["devices"][0], document["machine"]
    words = f"TFLOP/s of squares, in one run of {machine['date'][:10]}; {device['device']}, {device['driver']}, beside {machine['peer']}. " \
            f"Products of random shapes with sides of 8 to 5000 take CLBlast {' and '.join(said)}. stream_k is the fastest strict kernel in CUDA, which has tensor cores in f64, as OpenCL has not."
    return "\n\n".join(["## OpenCL on an NVIDIA H200", wrapped(words), table(lines)]) + "\n"


def write_or_check(arguments, description, program, make_files):
    """Runs a program of this folder: writes the files that make_files() returns, {path: words}, or compares them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare")
    check = parser.parse_args(arguments).check
    status = 0
    for file, wanted in make_files().items():
        if not check:
            file.write_text(wanted, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != wanted:
            print(f"docs/{file.relative_to(RESULTS.parent)} is not what docs/results/{program} makes; run it", file=sys.stderr)
            status = 1
    return status


def made_files():
    made = [section(machine) for machine in MACHINES]
    files = {RESULTS / file: picture for file, picture, _ in made}
    files[PAGE] = "\n".join([INTRODUCTION] + [words for _, _, words in made] + [opencl_section()])
    return files


def main(arguments):
    return write_or_check(arguments, __doc__, "make_performance.py", made_files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
