"""The part of the course on factors: a page for each way to solve or to factor, made from the textbook's sources in
apps/gemm_compare/linear_algebra/textbook, from docs/ladder/factors.toml and from what docs/ladder/keep_factors.py kept of a report of gemm_compare."""

import json
import re
import tomllib

import charts
from rungs import ROOT, opening
from words import amount, digits, link, picture, table, three, wrapped

NOTE = "<!-- docs/ladder/make_ladder.py makes this page from sources, factors.toml and docs/results. Change those. -->"
FOLDER = "apps/gemm_compare/linear_algebra/textbook"
PROSE = "docs/ladder/factors.toml"
PAGE = "docs/ladder/factors/README.md"
BLOCKS = "docs/ladder/factors/blocks.md"
CHART = "docs/ladder/pictures/factors/ladder.svg"
TITLE = "Processor: factors"
RESULTS = "docs/results/zen5-2c-factors.json"
SHOWN = 1024  # rows, where a page has one size
ELEMENT = 8  # bytes of f64
WAYS = ("formulas", "blocked", "cblas:openblas", "cblas:mkl_rt")


class Term:
    """A count: parts/of · n^power, over a block's columns where `blocked`."""

    def __init__(self, parts, of, power, blocked=False):
        self.parts, self.of, self.power, self.blocked = parts, of, power, blocked

    def value(self, n, b):
        return self.parts / self.of * n**self.power / (b if self.blocked else 1)

    @property
    def text(self):
        power = {2: "n²", 3: "n³"}[self.power]
        if self.blocked:
            return f"{power}/({self.of}·b)"
        return power if self.of == 1 else f"{self.parts}/{self.of}·{power}"


class Cost:
    """Operations, and elements that are read and written where a cache holds a block and some rows, but not the matrix. Terms of
    less than n³ are left out, but for what a way writes once."""

    def __init__(self, operations, read, written):
        self.operations, self.read, self.written = operations, read, written

    def numbers(self, n, b):
        return tuple(term.value(n, b) for term in (self.operations, self.read, self.written))


HALF = Term(1, 2, 2)
COSTS = {
    "symmetric_product": Cost(Term(1, 1, 3), Term(1, 2, 3), HALF),
    "substitution": Cost(Term(1, 1, 3), Term(1, 2, 3), Term(1, 1, 2)),
    "cholesky_unblocked": Cost(Term(1, 3, 3), Term(1, 6, 3), HALF),
    "cholesky_left_looking": Cost(Term(1, 3, 3), Term(1, 6, 3, True), HALF),
    "cholesky_right_looking": Cost(Term(1, 3, 3), Term(1, 6, 3, True), Term(1, 6, 3, True)),
    "lu_unblocked": Cost(Term(2, 3, 3), Term(1, 3, 3), Term(1, 3, 3)),
    "lu_right_looking": Cost(Term(2, 3, 3), Term(1, 3, 3, True), Term(1, 3, 3, True)),
    "qr_unblocked": Cost(Term(4, 3, 3), Term(2, 3, 3), Term(1, 3, 3)),
}


def block():
    text = (ROOT / FOLDER / "textbook.hpp").read_text(encoding="utf-8")
    return int(re.search(r"Index block = (\d+);", text)[1])


class Rung:
    def __init__(self, path, prose):
        self.number, self.name = path.stem.split("_", 1)
        self.stem, self.file = path.stem, str(path.relative_to(ROOT))
        self.page = f"docs/ladder/factors/{path.stem}.md"
        self.text = path.read_text(encoding="utf-8")
        self.paragraphs = opening(self.text)
        if self.name not in prose:
            raise SystemExit(f"{PROSE} has no entry [{self.name}] for {self.file}")
        self.prose = prose[self.name]
        self.operation, self.kernel = self.prose["op"], self.prose["kernel"]
        self.cost = COSTS[self.name]

    @property
    def title(self):
        return f"{self.number} {self.name}"

    def listing(self):
        body = self.text.partition("namespace tessera::compare_app::textbook {\n")[2]
        return body.partition("\ntemplate void ")[0].strip("\n")


def read_all():
    prose = tomllib.loads((ROOT / PROSE).read_text(encoding="utf-8"))
    rungs = [Rung(path, prose) for path in sorted((ROOT / FOLDER).glob("[0-9][0-9]_*.cpp"))]
    return rungs, prose


class Measured:
    """What keep_factors.py kept: rates by the least processor time of each entry."""

    def __init__(self):
        self.document = json.loads((ROOT / RESULTS).read_text(encoding="utf-8"))
        self.rows = {(row["op"], row["way"], row["n"]): row for row in self.document["rows"]}
        self.sizes = sorted({n for _, _, n in self.rows})

    def rate(self, operation, kernel, n):
        """GFLOP/s."""
        row = self.rows.get((operation, kernel, n))
        return row["gflops"] if row else None

    def rate_text(self, operation, kernel, n):
        rate = self.rate(operation, kernel, n)
        return digits(rate) if rate else "–"

    def over_bound(self, operation, kernel):
        return max((row["max_over_bound"] for (op, name, _), row in self.rows.items() if (op, name) == (operation, kernel)), default=None)

    def __getitem__(self, words):
        """The rate of "OP WAY ROWS", as text has it."""
        operation, kernel, n = words.split()
        return self.rate_text(operation, kernel, int(n))

    @property
    def machine(self):
        caches = next(one for one in self.document["machine"]["devices"] if one["backend"] == "openmp")
        sizes = ", ".join(f"{caches[f'l{level}_bytes'] / 2**20:g} MiB of L{level}" for level in (2, 3))
        return f"one thread of an {self.document['machine']['cpu']} (Zen 5, two cores of a shared host, {sizes})"


def shown(kernel):
    return {"cblas:openblas": "OpenBLAS", "cblas:mkl_rt": "MKL", "blocked": "`blocked` (Tessera)"}.get(kernel, f"`{kernel}`")


def cost_rows(rungs, n, b):
    for rung in rungs:
        operations, read, written = rung.cost.numbers(n, b)
        yield rung, operations, read * ELEMENT, written * ELEMENT


def navigation(rungs, at):
    page = rungs[at].page
    parts = [link(f"← {rungs[at - 1].title}", page, rungs[at - 1].page)] if at else []
    parts.append(link(TITLE, page, PAGE))
    if at + 1 < len(rungs):
        parts.append(link(f"{rungs[at + 1].title} →", page, rungs[at + 1].page))
    return " · ".join(parts)


def linked(text, rungs, page):
    """Names of rungs become links."""
    for rung in rungs:
        if rung.page != page:
            text = re.sub(rf"\b{rung.name}\b", link(rung.title, page, rung.page), text)
    return text


def cost_text(rung, b):
    operations, read, written = rung.cost.numbers(SHOWN, b)
    moved = (read + written) * ELEMENT
    said = [f"For n rows it takes {rung.cost.operations.text} operations. Where a cache holds a block of {b} columns and some rows, but not "
            f"the matrix, {rung.cost.read.text} elements are read into it and {rung.cost.written.text} written back, but for lower powers of n. "
            f"For n = {SHOWN} in f64 that is {amount(operations, 'FLOP')} and {amount(moved, 'B')}: {three(operations / moved)} FLOP/B."]
    return wrapped(" ".join(said))


def speed_table(rung, measured, others):
    kernels = [rung.kernel, *(other for other in others if other != rung.kernel), *WAYS]
    kernels = [kernel for kernel in dict.fromkeys(kernels) if any(measured.rate(rung.operation, kernel, n) for n in measured.sizes)]
    rows = [[("**" + shown(kernel) + "**") if kernel == rung.kernel else shown(kernel),
             *(measured.rate_text(rung.operation, kernel, n) for n in measured.sizes)] for kernel in kernels]
    return table(["GFLOP/s", *(f"n = {n}" for n in measured.sizes)], rows, range(1, len(measured.sizes) + 1))


def exercises(rung):
    return "\n".join("- " + wrapped(text, 118).replace("\n", "\n  ") for text in rung.prose["exercises"])


def invitation(rungs, at):
    """The lesson in which the reader writes the next rung, where there is one."""
    lesson = f"fac-{rungs[at + 1].stem.split('_')[0]}" if at + 1 < len(rungs) else ""
    is_there = (ROOT / "apps/lessons/tasks" / f"{lesson}.md").exists()
    return f" Write {rungs[at + 1].title} yourself first: `./tessera learn {lesson}`." if is_there else ""


def rung_page(rungs, at, measured, b):
    rung = rungs[at]
    others = [other.kernel for other in rungs if other.operation == rung.operation]
    over = measured.over_bound(rung.operation, rung.kernel)
    command = f"gemm_compare --op {rung.operation} --kernels {rung.kernel},formulas --dtype f64 --sizes {SHOWN}"
    blocks = [
        f"# {rung.title}", NOTE, navigation(rungs, at),
        wrapped("**The idea.** " + linked(rung.paragraphs[0], rungs, rung.page)),
        *(wrapped(linked(paragraph, rungs, rung.page)) for paragraph in rung.paragraphs[1:]),
        wrapped(f"The source: {link(f'`{rung.stem}.cpp`', rung.page, rung.file)}."),
        "## The loops", f"```cpp\n{rung.listing()}\n```",
        *([wrapped(f"`subtract_product` is in {link('`product.hpp`', rung.page, FOLDER + '/product.hpp')}: the loops of a matrix product.")]
          if "subtract_product" in rung.text else []),
        "## What it costs", cost_text(rung, b),
        "## What was measured", speed_table(rung, measured, others),
        wrapped(f"By the least time that {measured.machine} had the processor; f64, {link('the report', rung.page, RESULTS)}. Largest residual of "
                f"these runs: {digits(over)} of the bound that holds for any order of additions. To race it: `{command}`."),
        "## What limits it, and what answers that", wrapped(linked(rung.prose["limits"], rungs, rung.page)),
        wrapped(linked(rung.prose["answer"], rungs, rung.page) + invitation(rungs, at)),
        "## Exercises", exercises(rung), navigation(rungs, at)]
    return {rung.page: "\n\n".join(blocks) + "\n"}


def chapters(name, title, page, rungs, prose, measured, b):
    """A page of prose and tables that is not of one rung."""
    rows = [[link(rung.title, page, rung.page), rung.operation, rung.cost.operations.text, rung.cost.read.text, rung.cost.written.text,
             three(operations / (read + written)), *(measured.rate_text(rung.operation, rung.kernel, n) for n in (SHOWN, measured.sizes[-1]))]
            for rung, operations, read, written in cost_rows(rungs, SHOWN, b)]
    head = ["rung", "`--op`", "operations", "read", "written", f"FLOP/B at n = {SHOWN}", f"GFLOP/s, n = {SHOWN}", f"n = {measured.sizes[-1]}"]
    operations = list(dict.fromkeys(rung.operation for rung in rungs))
    bits = [[operation, *(measured.rate_text(operation, kernel, n) for kernel in WAYS for n in (SHOWN, measured.sizes[-1]))] for operation in operations]
    bits_head = ["GFLOP/s", *(f"{shown(kernel)}, {n}" for kernel in WAYS for n in (SHOWN, measured.sizes[-1]))]
    blocks = [f"# {title}", NOTE]
    for part in prose[name]["parts"]:
        if "title" in part:
            blocks.append(f"## {part['title']}")
        blocks += [wrapped(linked(paragraph.format(machine=measured.machine, block=b, rate=measured), rungs, page)) for paragraph in part.get("text", ())]
        if part.get("table") == "rungs":
            blocks.append(picture("Factors: the speed of each rung", page, CHART))
            blocks.append(table(head, rows, range(2, len(head))))
        if part.get("table") == "bits":
            blocks.append(table(bits_head, bits, range(1, len(bits_head))))
    other = link(TITLE, page, PAGE) if page != PAGE else link("The whole ladder", page, "docs/ladder/README.md")
    blocks.append(wrapped(f"{other} · {link('glossary', page, 'docs/glossary.md')} · {link('linear systems', page, 'docs/linear_algebra.md')} · "
                          f"{link('the report', page, RESULTS)}"))
    return {page: "\n\n".join(blocks) + "\n"}


def climb(rungs, measured):
    """The chart of the rungs, from a size that a cache holds to one that no cache does."""
    series = [(f"n = {n}", kind, shape, {at: measured.rate(rung.operation, rung.kernel, n) for at, rung in enumerate(rungs)})
              for n, kind, shape in ((measured.sizes[0], "a", "dot"), (measured.sizes[-1], "b", "square"))]
    rows = [(rung.title, "alone") for rung in rungs]
    return charts.ladder_picture("Factors: the speed of each rung, one thread, f64", series, rows, "FLOP/s", 0, 2)


def pages():
    """Every page of this part, by its path."""
    rungs, prose = read_all()
    measured, b = Measured(), block()
    files = chapters("overview", TITLE, PAGE, rungs, prose, measured, b)
    files |= chapters("blocks", "Blocks, left and right, and bits", BLOCKS, rungs, prose, measured, b)
    for at in range(len(rungs)):
        files |= rung_page(rungs, at, measured, b)
    return files | {CHART: climb(rungs, measured)}


def way_in():
    """The line of the list of ladders."""
    rungs, _ = read_all()
    page = "docs/ladder/README.md"
    words = f"**{link(TITLE, page, PAGE)}**: from {link(rungs[0].title, page, rungs[0].page)} to {link(rungs[-1].title, page, rungs[-1].page)}."
    return "- " + wrapped(words, 118).replace("\n", "\n  ")
