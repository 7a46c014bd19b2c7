"""The page of each ladder, and the one that climbs all of them."""

import re

import charts
import factors
import measured
import seeds
import timeline
from rungs import LADDERS
from words import link, percent, picture, seconds_text, table, three, wrapped

NOTE = "<!-- docs/ladder/make_ladder.py makes this page from the rungs' sources and from docs/results. Change those. -->"
PAGE = "docs/ladder/README.md"
SOURCES = "docs/ladder/sources.md"
WORDS = {
    "cuda": "How a matrix product on a GPU is made fast, an idea a rung. The main line goes from 01 on; side paths (s: storage, k: Kahan's "
            "sums, o: occupancy, t: matrix units) leave it at the rung that they are compared with.",
    "cpu": "How a matrix product on a processor is made fast, an idea a rung. Side paths (k: Kahan's sums, o: schedules) leave the main line "
           "at the rung that they are compared with.",
    "reduce": "How a sum of a whole vector is made fast on a GPU, from one thread to the rate of memory. The rungs add the squares of the "
              "elements.",
}


def kernels_of(rungs):
    return tuple(kernel for rung in rungs for kernel in rung.kernels)


def best_row(run, n, rung):
    rows = [row for row in (run.at(n, kernel) for kernel in rung.kernels) if row]
    return min(rows, key=lambda row: row["seconds"]["median"], default=None)


def series_of(run, rungs, n, order):
    """{row of the chart: rate} of a run, with the best kernel and the vendor's below the rungs."""
    rates = {}
    for rung in rungs:
        row = best_row(run, n, rung)
        if row:
            rates[order[rung.ladder, rung.name]] = charts.rate_of(run, row)
    best, vendor = run.best(n, "strict"), run.vendor(n, "strict")
    if best:
        rates[order[rungs[0].ladder, "best"]] = charts.rate_of(run, best)
    if vendor:
        rates[order[rungs[0].ladder, "vendor"]] = charts.rate_of(run, vendor)
    return rates


def climb(ladders):
    """The chart of both ladders of products: main lines from naive to the top, today's machines and the sources'."""
    rows, order = [], {}
    for ladder, words in (("cpu", "Processor"), ("cuda", "GPU")):
        rows.append((words, "heading"))
        for rung in ladders[ladder]:
            if rung.main:
                order[ladder, rung.name] = len(rows)
                rows.append((rung.title, "main"))
        for name, shown in (("best", "the best kernel of Tessera"), ("vendor", "the vendor's library")):
            order[ladder, name] = len(rows)
            rows.append((shown, "alone"))
    rows.append(("The walkthrough's seven levels", "heading"))
    levels = seeds.levels()
    for level in range(len(levels)):
        order["level", level] = len(rows)
        rows.append((f"level {level + 1}", "main"))
    series = []
    for ladder, kind in (("cpu", "b"), ("cuda", "a")):
        rungs = [rung for rung in ladders[ladder] if rung.main]
        runs = [run for run in measured.runs(ladder, kernels_of(ladders[ladder])) if run.dtype == "f32"]
        for run, (own, shape) in zip(runs, ((kind, "dot"), ("b", "square"))):
            n = run.size(kernels_of(rungs))
            series.append((f"{run.title}, n = {n}", own, shape, series_of(run, rungs, n, order)))
    published = seeds.published()
    for name, ladder, words, kind in (("report", "cpu", "the course report", "c"), ("blog", "cuda", "the blog", "c"), ("sgemm", "cuda", "SGEMM_CUDA", "hot")):
        preset = published[name]
        rungs = [rung for rung in ladders[ladder] if rung.main]
        known = seeds.rates(preset, [*kernels_of(rungs), "cublas", "gold"])
        rates = {}
        for rung in rungs:
            own = [known[kernel] for kernel in rung.kernels if kernel in known]
            if own:
                rates[order[ladder, rung.name]] = max(own)
        if "cublas" in known:
            rates[order[ladder, "vendor"]] = known["cublas"]
        series.append((f"{preset['machine']}, n = {preset['n']} ({words})", kind, "ring", rates))
    series.append(("V100 (the walkthrough, sizes unknown)", "dim", "ring", {order["level", at]: rate for at, rate in enumerate(levels)}))
    picture_text = charts.ladder_picture("Products: from the textbook's loop to the top", series, rows, "FLOP/s", -1, 5)
    return picture_text


def levels_text():
    levels = seeds.levels()
    return ", ".join(f"{level:g}" for level in levels[:-1]) + f" and {levels[-1]:g}" if levels else ""


def seeds_table(ladders, page):
    """The figures of the sources beside the newest run."""
    rows = []
    published = seeds.published()
    for name, ladder in (("blog", "cuda"), ("sgemm", "cuda"), ("report", "cpu")):
        preset = published[name]
        rungs = ladders[ladder]
        run = measured.runs(ladder, kernels_of(rungs))[0]
        n = run.size(kernels_of(rungs))
        by_kernel = {kernel: rung for rung in rungs for kernel in rung.kernels}
        known = seeds.rates(preset, [*by_kernel, "cublas"])
        for kernel, rate in known.items():
            row = run.at(n, kernel)
            shown = link(f"{by_kernel[kernel].number} {kernel}", page, by_kernel[kernel].page) if kernel in by_kernel else charts.shown(kernel)
            rows.append([shown, f"{preset['machine']}, n = {preset['n']}", charts.rate_text(rate),
                         charts.rate_text(row["gflops"]) if row else "–", three(row["gflops"] / rate) if row else "–"])
    return rows


def ladder_page(ladder, rungs):
    """The page of one ladder: a chart and a table of its rungs."""
    page = f"docs/ladder/{ladder}/README.md"
    folder, title = LADDERS[ladder]
    blocks = [f"# {title}", NOTE, wrapped(WORDS[ladder] + f" The sources are in {link(f'`{folder}`', page, folder)}.")]
    files = {}
    runs = [run for run in measured.runs(ladder, kernels_of(rungs)) if run.dtype == "f32"]
    head, cells = ["rung", "idea"], [[link(rung.title, page, rung.page), summary(rung)] for rung in rungs]
    for run in runs:
        n = run.size(kernels_of(rungs))
        head.append(f"{run.title}, {'n = ' if ladder != 'reduce' else ''}{n}")
        for rung, row in zip(rungs, cells):
            found = best_row(run, n, rung)
            row.append(charts.rate_words(run, charts.rate_of(run, found)) if found else in_another_type(run, rungs, rung))
    if runs:
        order = {(ladder, rung.name): at for at, rung in enumerate(rungs)} | {(ladder, "best"): len(rungs), (ladder, "vendor"): len(rungs) + 1}
        rows = [(rung.title, "main" if rung.main else "alone") for rung in rungs] + [("the best kernel of Tessera", "alone"), ("the vendor's library", "alone")]
        series = [(f"{run.title}, {'n = ' if ladder != 'reduce' else ''}{run.size(kernels_of(rungs))}{' elements' if ladder == 'reduce' else ''}", kind,
                   shape, series_of(run, rungs, run.size(kernels_of(rungs)), order))
                  for run, kind, shape in zip(runs, "abc", ("dot", "square", "ring"))]
        low, high = {"cuda": (2, 5), "cpu": (-1, 4), "reduce": (-2, 4)}[ladder]
        path = f"docs/ladder/pictures/{ladder}/ladder.svg"
        files[path] = charts.ladder_picture(f"{title}: the speed of each rung", series, rows, "B/s" if ladder == "reduce" else "FLOP/s", low, high)
        blocks.append(picture(f"{title}: the speed of each rung", page, path))
    blocks.append(table(head, cells, range(2, len(head))))
    if ladder == "cuda" and timeline.recorded():
        files |= timeline.page(NOTE)
        title = "A block's time"
        blocks.append(wrapped(f"{link(title, page, timeline.PAGE)}: what the warps of {', '.join(timeline.recorded())} do, as pictures."))
    blocks.append(wrapped(f"{link('The whole ladder', page, PAGE)} · {link('glossary', page, 'docs/glossary.md')}"))
    return {page: "\n\n".join(blocks) + "\n", **files}


def in_another_type(run, rungs, rung):
    """The speed of a rung that has no f32 kernel, in its own type on the same machine."""
    for other in measured.runs(rung.ladder, kernels_of(rungs)):
        if other.name == run.name and other.threads == run.threads and other.dtype != run.dtype and f"_{run.dtype}" not in rung.text:
            found = best_row(other, other.size(rung.kernels), rung)
            if found:
                return f"{charts.rate_words(other, charts.rate_of(other, found))} in {other.dtype}"
    return "–"


def summary(rung):
    """The summary of the rung's entry, as --list shows it."""
    match = re.search(r'\.summary = ((?:"[^"]*"\s*)+)', rung.text)
    if match:
        return "".join(re.findall(r'"([^"]*)"', match[1]))
    return rung.idea.split(". ")[0].rstrip(".")


def way_in(ladder, rungs):
    """A line of the list of ladders, as a list has it."""
    words = (f"**{link(LADDERS[ladder][1], PAGE, f'docs/ladder/{ladder}/README.md')}**: from {link(rungs[0].title, PAGE, rungs[0].page)} "
             f"to {link(rungs[-1].title, PAGE, rungs[-1].page)}.")
    return "- " + wrapped(words, 118).replace("\n", "\n  ")


def sources_page(ladders):
    """The figures that the sources published beside today's."""
    gpu = measured.runs("cuda", kernels_of(ladders["cuda"]))[0]
    cpu = measured.runs("cpu", kernels_of(ladders["cpu"]))[0]
    blocks = ["# The sources' own figures", NOTE, wrapped(
        "The ladders grew from documents that measured machines of their day. Here are their figures as `gemm_compare` knows them (its presets), "
        f"beside what {link('docs/results', SOURCES, 'docs/results/README.md')} has ({gpu.title}; {cpu.title})."),
        table(["kernel", "published on", "published", f"{gpu.name} or {cpu.name} today", "times"], seeds_table(ladders, SOURCES), (2, 3, 4)),
        wrapped(f"The kernel walkthrough gives {levels_text()} GFLOP/s for its seven levels on a V100, without sizes; its fifth level is about occupancy "
                "and its sixth uses tensor cores. The course report measured a GTX 1060 as well, and its figures are not at hand; its processor "
                "computed in f64, and OpenMP and tiles were five and fourteen times as fast as one thread. "
                f"{link('The published experiments, run again', SOURCES, 'docs/lab/presets.md')} has each source's own sizes, types and data."),
        wrapped(link("The ladder", SOURCES, PAGE))]
    return {SOURCES: "\n\n".join(blocks) + "\n"}


def overview_page(ladders):
    files = {"docs/ladder/pictures/climb.svg": climb(ladders)}
    titles = [run.title for ladder in ("cuda", "cpu") for run in measured.runs(ladder, kernels_of(ladders[ladder])) if run.dtype == "f32"]
    blocks = ["# The ladder", NOTE, wrapped(
        "This is a course in how a matrix product is made fast. Each rung is one idea: a short source that works on every shape, a picture of "
        "what it reads, what it costs by the roofline, what was measured, what limits it, and which rung answers that. Its last part is about factors, which become products."),
        "\n".join([*(way_in(ladder, [rung for rung in rungs if rung.main]) for ladder, rungs in ladders.items()), factors.way_in()]),
        wrapped("To learn by doing, `./tessera learn` gives a rung as a task and marks what you write. "
                f"{link('Lessons', PAGE, 'docs/learn.md')} has the list, and {link('Start here', PAGE, 'docs/start.md')} the first ten minutes."),
        "## From naive to the top",
        picture("Products: from the textbook's loop to the top, on a processor and a GPU", PAGE, "docs/ladder/pictures/climb.svg"),
        wrapped(f"Filled dots and squares are measured ({'; '.join(titles)}; in {link('docs/results', PAGE, 'docs/results/README.md')}); rings are what the sources "
                f"of the ladder published ({link('the figures', PAGE, SOURCES)}). A line joins the rungs of a main line. "
                "The scale across is logarithmic: a step of the grid is ten times. A rung without a mark was not measured on these products; its page has what was."),
        "## How to read a page",
        wrapped("**Sectors.** Global memory is read in sectors of 32 bytes. A load by a warp is one request; its 32 lanes touch between 1 and 32 "
                "sectors, and four are enough for 32 neighbours of f32."),
        wrapped("**Banks.** Shared memory has 32 banks of 4 bytes. Lanes that want different words of one bank wait for each other: each further "
                "turn is a wavefront more. Vectors of 16 bytes a lane are served for eight lanes at a time, or for sixteen where neighbours want the same one."),
        wrapped("**Counters.** Nsight Compute counts on a GPU. The lens (`gemm_compare --lens RUNG --shape 256x256x256`) counts sectors and wavefronts "
                "line by line on any machine, and Cachegrind the misses of a processor's caches; what they simulate is the same everywhere."),
        wrapped("**The model.** A kernel asks for a number of bytes and operations. The longer of bytes over bandwidth and operations over peak is "
                "the time that it would take if caches served nothing in between and all units worked all the time."),
        wrapped(f"**The roofline** has the same two limits as lines; [Williams and others](https://doi.org/10.1145/1498765.1498785) describe it. "
                f"Words are in {link('the glossary', PAGE, 'docs/glossary.md')}."),
        wrapped(f"`make_ladder.py` makes the pages from the sources, from {link('docs/results', PAGE, 'docs/results/README.md')} and from "
                f"{link('`limits.toml`', PAGE, 'docs/ladder/limits.toml')}; the test `docs.ladder` fails until it has run again. "
                f"{link('`measure_gpu.sh`', PAGE, 'docs/ladder/measure_gpu.sh')} measures on a GPU."),
    ]
    return {PAGE: "\n\n".join(blocks) + "\n", **sources_page(ladders), **files}
