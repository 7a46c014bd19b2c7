"""A block's time: when its warps load, wait, multiply and store, from docs/results/*-timeline-*.json where such a file is there.

docs/ladder/timeline records these documents: {"schema": "tessera.timeline/1", "kernel", "machine": {"device", "date"},
"product": {"m", "n", "k", "dtype", "math"}, "clock", "phases": [name], "warps": [{"warp", "end_ns", "lost", "events": [[phase,
start in ns]]}]}. A phase ends where the next one begins; of a warp that has lost events the last one has no end.
"""

import tomllib

import measured
from drawing import Picture
from rungs import ROOT
from words import link, picture, table, wrapped

KINDS = {"load": "b", "wait": "quiet", "multiply": "a", "store": "c"}
MARKS = "docs/ladder/timeline/marks.toml"
PAGE = "docs/ladder/cuda/timelines.md"
WIDTH, LEFT, RIGHT, TOP, STEP, BAR = 520, 94, 16, 94, 18, 14


def of(kernel):
    """The newest document of a kernel, and its file."""
    found = [(file, document) for file, document in measured.documents("tessera.timeline") if document["kernel"] == kernel]
    return found[-1] if found else (None, None)


def recorded():
    """The kernels that have a document, in the order of the marks."""
    return [kernel for kernel in marks() if of(kernel)[1]]


def marks():
    return tomllib.loads((ROOT / MARKS).read_text(encoding="utf-8"))


def spans_of(document):
    """{warp: [(phase, start, end)]} up to the time up to which every warp is known, and that time."""
    names, until = document["phases"], max(warp["end_ns"] for warp in document["warps"])
    for warp in document["warps"]:
        if warp["lost"]:
            until = min(until, warp["events"][-1][1])
    spans = {}
    for warp in document["warps"]:
        starts = [*(start for _, start in warp["events"]), warp["end_ns"]]
        spans[warp["warp"]] = [(names[phase], start, min(end, until)) for (phase, start), end in zip(warp["events"], starts[1:]) if start < until]
    return spans, until


def role(spans):
    """What a warp is for, where warps have roles."""
    phases = {phase for phase, _, _ in spans}
    if "load" in phases and "multiply" not in phases:
        return "producer"
    return "consumer" if "multiply" in phases and "load" not in phases else ""


def groups_of(spans):
    """[(role, [warp])]: neighbours with one role."""
    groups = []
    for warp, own in spans.items():
        if groups and groups[-1][0] == role(own):
            groups[-1][1].append(warp)
        else:
            groups.append((role(own), [warp]))
    return groups


def warps_text(warps):
    return f"warp {warps[0]}" if len(warps) == 1 else f"warps {warps[0]} to {warps[-1]}"


def shares(spans, until, warps):
    """{phase: its part of the time of these warps}."""
    sums = dict.fromkeys(KINDS, 0)
    for warp in warps:
        for phase, start, end in spans[warp]:
            sums[phase] += end - start
    return {phase: time / (until * len(warps)) for phase, time in sums.items()}


def grid_step(until):
    """Nanoseconds between lines of the grid: 1, 2 or 5 times a power of ten, at most eight lines."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if until / (factor * power) <= 8:
                return factor * power
        power *= 10


def product_text(document):
    product = document["product"]
    return f"{product['m']}×{product['n']}×{product['k']}, {product['dtype']}, {document['machine']['device']}"


def drawn(document):
    spans, until = spans_of(document)
    whole = not any(warp["lost"] for warp in document["warps"])
    figure = Picture(f"{document['kernel']}: when each warp of a block loads, waits, multiplies and stores", WIDTH)
    figure.parts.append("<style>.quiet{fill:#c4c4ce}@media (prefers-color-scheme:dark){.quiet{fill:#4c505c}}</style>")
    figure.text(14, 24, f"{document['kernel']}: one block's {'time' if whole else 'first ' + micro(until)}", 14, bold=True)
    figure.text(14, 42, product_text(document), 13, kind="dim")
    for at, (phase, kind) in enumerate(KINDS.items()):
        figure.rect(14 + at * 92, 53, 12, 10, kind)
        figure.text(31 + at * 92, 62, phase, 13)
    x_of = lambda ns: LEFT + ns / until * (WIDTH - LEFT - RIGHT)
    bottom = TOP + STEP * len(spans)
    step = grid_step(until)
    for ns in range(0, until + 1, step):
        figure.line(x_of(ns), TOP - 6, x_of(ns), bottom)
        figure.text(x_of(ns), TOP - 10, f"{ns / 1000:g} µs" if ns else "0", 13, "middle" if x_of(ns) < WIDTH - 30 else "end", "dim")
    for at, (warp, own) in enumerate(spans.items()):
        y = TOP + at * STEP
        figure.text(14, y + 11, f"{warp} {role(own)}".rstrip() if role(own) else f"warp {warp}", 13)
        for phase, kind in KINDS.items():
            bars = [(x_of(start), max(0.4, x_of(end) - x_of(start))) for named, start, end in own if named == phase]
            if bars:
                figure.parts.append(f'<path class="{kind}" d="' + "".join(f"M{x:.1f} {y}h{width:.1f}v{BAR}h-{width:.1f}z" for x, width in bars) + '"/>')
    return figure.svg(bottom + 12)


def micro(ns):
    return f"{ns / 1000:.3g} µs"


def alternative(document):
    """The picture in words."""
    spans, until = spans_of(document)
    said = []
    for name, warps in groups_of(spans):
        parts = shares(spans, until, warps)
        most = sorted((phase for phase in parts if parts[phase] >= 0.005), key=parts.get, reverse=True)
        said.append(f"{name + ' ' if name else ''}{warps_text(warps)}: " + ", ".join(f"{phase} {percent_text(parts[phase])}" for phase in most))
    return f"{document['kernel']}, a block's warps over {micro(until)}: {'; '.join(said)}"


def percent_text(part):
    return f"{100 * part:.0f} %"


def section(kernel, page, path):
    """(blocks, {path: picture}) of a kernel's time for a page; nothing where none was recorded."""
    file, document = of(kernel)
    if not document:
        return [], {}
    spans, until = spans_of(document)
    rows = []
    for name, warps in groups_of(spans):
        parts = shares(spans, until, warps)
        rows.append([f"{name + ': ' if name else ''}{warps_text(warps)}", *(percent_text(parts[phase]) for phase in KINDS)])
    lost = sum(warp["lost"] for warp in document["warps"])
    kept = f" Of the warps' later phases {lost} are not shown." if lost else ""
    blocks = [
        picture(alternative(document), page, path),
        wrapped(marks()[kernel]["shows"]),
        table(["time of", *KINDS], rows, range(1, 1 + len(KINDS))),
        wrapped(f"One block of {product_text(document)}, {document['machine']['date'][:10]} ({link(f'`{file}`', page, f'docs/results/{file}')}), while its "
                f"neighbours run, in a copy of the kernel with marks ({link('how', page, 'docs/ladder/timeline/README.md')}). Marks take "
                f"time, too.{kept}"),
    ]
    return blocks, {path: drawn(document)}


def page(note):
    """The page of all recorded kernels; nothing where there is none."""
    if not recorded():
        return {}
    blocks = ["# A block's time", note, wrapped(
        "What the warps of one block do, from the kernel's first cycle on: a picture has a line for each warp. From kernel to kernel the loads move "
        "out of the products' way: first by way of registers, then by copies that run by themselves, then by warps of their own.")]
    files = {}
    for kernel in recorded():
        own, drawings = section(kernel, PAGE, f"docs/ladder/pictures/cuda/timelines/{kernel}.svg")
        source = f"backends/cuda/gemm/{marks()[kernel]['source']}"
        name = source.rpartition("/")[2]
        blocks += [f"## {kernel}", *own, f"The source: {link(f'`{name}`', PAGE, source)}."]
        files |= drawings
    blocks.append(link("GPU: matrix products", PAGE, "docs/ladder/cuda/README.md"))
    return {PAGE: "\n\n".join(blocks) + "\n", **files}
