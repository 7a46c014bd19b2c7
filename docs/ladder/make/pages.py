"""The page of one rung."""

import os
import re

import charts
import counters_page
import counters_text
import cpu_pictures
import gpu_pictures
import measured
import reduce_pictures
import timeline
import work
from rungs import LADDERS, ROOT
from words import amount, link, percent, picture, seconds_text, table, three, wrapped

NOTE = "<!-- docs/ladder/make_ladder.py makes this page from the rung's source and from docs/results. Change those. -->"
SIZE = 4096  # of the product whose cost is worked out where none was measured


def invitation(rung):
    """The lesson in which the reader writes the rung, where there is one."""
    lesson = f"{'cpu' if rung.ladder == 'cpu' else 'gpu'}-{rung.stem.split('_')[0]}"
    is_there = rung.ladder in ("cpu", "cuda") and (ROOT / "apps/lessons/tasks" / f"{lesson}.md").exists()
    return f" Write it yourself first: `./tessera learn {lesson}`." if is_there else ""


class Page:
    """A rung's page: add() takes blocks of text, and pictures go beside them."""

    def __init__(self, rung, ladders):
        self.rung, self.ladders = rung, ladders
        self.rungs = ladders[rung.ladder]
        self.runs = measured.runs(rung.ladder, tuple(kernel for one in self.rungs for kernel in one.kernels))
        self.blocks = []
        self.files = {}

    def add(self, text):
        self.blocks.append(text)

    def show(self, name, words, svg):
        """Keeps a picture; returns its line for the page."""
        if not svg:
            return None
        path = f"docs/ladder/pictures/{self.rung.ladder}/{self.rung.stem}/{name}.svg"
        self.files[path] = svg
        return picture(words, self.rung.page, path)

    def to(self, rung, words=None):
        return link(words or rung.title, self.rung.page, rung.page)

    def measured_rows(self):
        """(run, size, kernel, row) of each machine and type on which a kernel of the rung was measured."""
        everything = tuple(kernel for one in self.rungs for kernel in one.kernels)
        for run in self.runs:
            for kernel in self.rung.kernels:
                sizes = [n for n in run.sizes if run.at(n, kernel)]
                usual = run.size(everything)
                if sizes:
                    n = usual if usual in sizes else sizes[-1]
                    yield run, n, kernel, run.at(n, kernel)

    def build(self):
        rung = self.rung
        self.add(f"# {rung.title}")
        self.add(NOTE)
        self.add(self.navigation())
        self.add(wrapped("**The idea.** " + self.prose(rung.idea)))
        for paragraph in rung.paragraphs[1:]:
            self.add(wrapped(self.prose(paragraph)))
        self.add(wrapped(f"The source: {link(f'`{os.path.basename(rung.file)}`', rung.page, rung.file)}."))
        self.pictures()
        self.kernel()
        self.cost()
        self.speed()
        self.counters()
        self.timeline()
        self.limits()
        self.add(self.navigation())
        return {rung.page: "\n\n".join(self.blocks) + "\n", **self.files}

    def navigation(self):
        parts = [self.to(self.rung.previous, f"← {self.rung.previous.title}")] if self.rung.previous else []
        parts.append(link(LADDERS[self.rung.ladder][1], self.rung.page, f"docs/ladder/{self.rung.ladder}/README.md"))
        if self.rung.after:
            parts.append(self.to(self.rung.after, f"{self.rung.after.title} →"))
        return " · ".join(parts)

    def prose(self, text):
        """A comment as text of the page: names of rungs' files and of pages become links."""
        by_stem = {one.path.stem: one for one in self.rungs}

        def rung_link(match):
            other = by_stem.get(match[1])
            return self.to(other) if other and other is not self.rung else match[0]

        text = re.sub(r"`?\b((?:\d\d|[a-z]\d)_\w+?)(?:\.cu|\.cpp)?\b(?!\()`?", rung_link, text)
        return re.sub(r"\bdocs/[\w/]+\.md\b", lambda page: link(page[0].rpartition("/")[2], self.rung.page, page[0]), text)

    def pictures(self):
        rung, shown = self.rung, []
        kernel = rung.kernels[-1]
        if rung.ladder == "cuda":
            shown.append(self.show("tiles", f"{kernel}: what a block computes and reads", gpu_pictures.tiles_picture(rung, kernel)))
            sectors, counts = gpu_pictures.sectors_picture(rung, kernel)
            shown.append(self.show("sectors", f"{kernel}: the sectors that a warp's loads touch", sectors))
            banks, said = gpu_pictures.banks_picture(rung, kernel)
            shown.append(self.show("banks", f"{kernel}: the banks that a warp's accesses to shared memory meet", banks))
        elif rung.ladder == "cpu":
            shown.append(self.show("lines", f"{rung.name}: the cache lines that the inner loop reads", cpu_pictures.lines_picture(rung))
                         if rung.name != "strassen" else None)
            run = self.runs[0] if self.runs else None
            if run:
                names = tuple(name for one in self.rungs for name in one.kernels)
                shown.append(self.show("caches", f"{rung.name}: which panel lies in which cache", cpu_pictures.caches_picture(rung, run, run.size(names))))
        else:
            shown.append(self.show("reads", f"{rung.name}: which thread reads which element", reduce_pictures.reads_picture(rung)))
            shown.append(self.show("tree", f"{rung.name}: how a block adds its sums", reduce_pictures.tree_picture(rung)))
        self.add("## What is read")
        self.add("\n".join(line for line in shown if line))

    def kernel(self):
        lines, old_shown = self.rung.marked()
        self.add("## The kernel")
        if old_shown is None:
            language = "cpp" if self.rung.ladder == "cpu" else "cuda"
            self.add(f"```{language}\n" + "\n".join(lines) + "\n```")
            return
        before = self.to(self.rung.before)
        self.add(wrapped(f"Lines with + are new against {before}, and lines with − are gone." if old_shown else
                         f"Lines with + differ from {before}; the others are as there."))
        self.add("```diff\n" + "\n".join(lines) + "\n```")

    def cost(self):
        rung = self.rung
        columns = [(run, n, kernel, row) for run, n, kernel, row in self.measured_rows() if run.ceiling(row["math"])]
        self.add("## What it costs")
        amounts = [(run, n, kernel, row, work.of(rung, kernel, row["m"], row["n"], row["k"], measured.BYTES[run.dtype]))
                   for run, n, kernel, row in columns]
        if not amounts or not all(moved for *_, moved in amounts):
            self.add(self.unmeasured_cost() if not amounts else wrapped(
                "This kernel counts its operations and bytes in its own way; `gemm_compare` shows the count as `accesses` and its time as `model`."))
            return
        head = ["", *(f"{kernel}, {run.title}, n = {n}" for run, n, kernel, _, _ in amounts)]
        rows = [["operations"], ["bytes asked for"], ["bytes an element" if rung.ladder == "reduce" else "bytes a result"], ["operations a byte"], ["arithmetic alone"], ["bytes alone"], ["the model's time"], ["measured"]]
        for run, n, kernel, row, moved in amounts:
            ceiling = run.ceiling(row["math"])
            bandwidth, level = work.level_of(ceiling, row["m"], row["n"], row["k"], measured.BYTES[run.dtype])
            model = moved.seconds(ceiling["flops"], bandwidth)
            for cells, text in zip(rows, (
                amount(moved.operations, ""), amount(moved.bytes, "B"), amount(moved.bytes / (row["m"] * row["n"]), "B"),
                three(moved.intensity), f"{seconds_text(moved.operations / ceiling['flops'])} at {amount(ceiling['flops'], 'FLOP/s')}",
                f"{seconds_text(moved.bytes / bandwidth)} from {level} at {amount(bandwidth, 'B/s')}", seconds_text(model),
                f"{seconds_text(row['seconds']['median'])}, {three(row['seconds']['median'] / model)} times the model")):
                cells.append(text.strip())
        self.add(table(head, rows))
        if not all(work.agrees(row, moved) for _, _, _, row, moved in amounts):
            self.add(wrapped("**The measured kernel was an earlier one**: `gemm_compare` counted other accesses when it ran. The table counts today's source."))
        if rung.ladder == "reduce":
            self.add(wrapped("The model is the roofline's: the longer of the two times. All rungs read each element once, so that the model is the same; what "
                             "differs is how many loads are on their way. Times are of the call, with its launch and the sums' way to the host."))
            return
        self.add(wrapped("The model is the roofline's: the longer of the two times. Bytes are what the kernel asks for, warp by warp: an element that all "
                         "lanes want counts once, and lanes far apart take a sector of 32 bytes each. Memory moves less: a kernel that is faster than its model was served by a cache in between." if rung.ladder == "cuda" else
                         "The model is the roofline's: the longer of the two times, with the bandwidth of the nearest memory that holds all operands. "
                         "Bytes are what the loops ask for: a kernel that is faster than its model was served by a nearer cache."))

    def unmeasured_cost(self):
        rung, kernel = self.rung, self.rung.kernels[0]
        element = rung.element(kernel) if rung.ladder == "cuda" else 4
        moved = work.of(rung, kernel, SIZE, SIZE, SIZE, element)
        if not moved:
            return wrapped("This kernel counts its operations and bytes in its own way.")
        return table(["", f"{kernel}, n = {SIZE}, elements of {8 * element} bits"],
                     [["operations", amount(moved.operations, "").strip()], ["bytes asked for", amount(moved.bytes, "B")],
                      ["bytes a result", amount(moved.bytes / SIZE**2, "B")], ["operations a byte", three(moved.intensity)]])

    def speed(self):
        self.add("## What was measured")
        found = list(self.measured_rows())
        if not found:
            self.other_products()
            return
        seen = set()
        lines = []
        for run, n, kernel, row in found:
            if run.key in seen:
                continue
            seen.add(run.key)
            lines.append(self.show(f"speed-{run.key}", f"{kernel}: speed on {run.title}", charts.bars_picture(self.rung, run, n, kernel)))
            if run.ceiling(row["math"]):
                at, moved = counters_text.counted_bytes(kernel, run) or (n, None)
                lines.append(self.show(f"roofline-{run.key}", f"{kernel} on the roofline of {run.title}",
                                       charts.roofline_picture(self.rung, run, at, kernel, moved)))
        self.add("\n".join(line for line in lines if line))
        self.add(self.times(found))
        files = sorted({run.file for run, *_ in found})
        links = ", ".join(link(f"`{file}`", self.rung.page, f"docs/results/{file}") for file in files)
        self.add(wrapped(f"Times are medians of {links}, run on {', '.join(sorted({run.date for run, *_ in found}))}; "
                         f"{link('docs/results', self.rung.page, 'docs/results/README.md')} has the commands."))

    def other_products(self):
        """Products that were measured without the ladder."""
        found = [entry for kernel in self.rung.kernels for entry in measured.other_products(kernel)]
        if not found:
            self.add("Not measured yet: no file of docs/results has this kernel with its ladder.")
        for run, rows in found:
            self.add(wrapped(f"On {run.title} ({link(f'`{run.file}`', self.rung.page, f'docs/results/{run.file}')}, {run.date}):"))
            name = lambda row: f"**{row['kernel']}**" if row["kernel"] in self.rung.kernels else measured.shown(row["kernel"])
            self.add(table(["m×n×k", "kernel", "time", "GFLOP/s"], [[f"{row['m']}×{row['n']}×{row['k']}", name(row), seconds_text(row["seconds"]["median"]),
                                                                    three(row["gflops"])] for row in rows], (2, 3)))

    def times(self, found):
        reduce = self.rung.ladder == "reduce"
        head = ["machine", "kernel", "elements" if reduce else "n", "time", "GB/s" if reduce else "GFLOP/s"]
        head += ["on the device", "of CUB"] if reduce else ["of the peak", f"of {'cuBLAS' if self.rung.ladder == 'cuda' else 'the vendor'}"]
        rows = []
        for run, _, kernel, _ in found:
            for n in run.sizes:
                row = run.at(n, kernel)
                if not row:
                    continue
                seconds, vendor = row["seconds"]["median"], run.vendor(n, row["math"])
                beside = percent(vendor["seconds"]["median"] / seconds) if vendor else "–"
                if reduce:
                    device = row.get("device_seconds")
                    rows.append([run.title, kernel, f"{n}", seconds_text(seconds), three(charts.rate_of(run, row)),
                                 seconds_text(device) if device else "–", beside])
                else:
                    ceiling = run.ceiling(row["math"])
                    part = percent(row["gflops"] * 1e9 / ceiling["flops"]) if ceiling else "–"
                    rows.append([run.title, kernel, f"{n}", seconds_text(seconds), three(row["gflops"]), part, beside])
        return table(head, rows, range(2, 7))

    def counters(self):
        (counters_page.cache_misses if self.rung.ladder == "cpu" else counters_page.counters)(self)

    def timeline(self):
        for kernel in self.rung.kernels:
            blocks, files = timeline.section(kernel, self.rung.page, f"docs/ladder/pictures/{self.rung.ladder}/{self.rung.stem}/timeline-{kernel}.svg")
            if blocks:
                self.add("## A block's time")
                for block in blocks:
                    self.add(block)
                self.add(wrapped(f"{link('All kernels that were recorded', self.rung.page, timeline.PAGE)}."))
                self.files |= files

    def limits(self):
        prose = self.rung.prose
        self.add("## What limits it, and what answers that")
        self.add(wrapped(self.named(prose["limits"])))
        by_name = {one.name: one for one in self.rungs}
        answer = self.named(prose["answer"])
        if prose["next"]:
            other = by_name.get(prose["next"])
            if not other:
                raise SystemExit(f"docs/ladder/limits.toml: {self.rung.name} names {prose['next']}, which is no rung of its ladder")
            answer = f"**Next: {self.to(other)}.** {answer}{invitation(other) if self.rung.main and self.rung.stem < other.stem else ''}"
        self.add(wrapped(answer))

    def named(self, text):
        """Names of other rungs as links; beyond the textbook, as code."""
        by_name = {one.name: one for one in self.rungs if one is not self.rung}
        found = lambda match: self.to(by_name[match[0]], match[0]) if match[0] in by_name else (f"`{match[0]}`" if "_" in match[0] else match[0])
        return re.sub(r"\b[a-z]\w*\b", found, text)
