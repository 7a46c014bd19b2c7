"""Tests the timelines of the ladder: that the marks of instrumented kernels fit today's sources, that nothing but marks is put into a
copy, and what the pages make of a recorded document."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

if sys.version_info < (3, 11):
    print("skipped: docs/ladder needs Python 3.11")
    sys.exit(0)
ROOT = pathlib.Path(__file__).resolve().parents[2]
LADDER = ROOT / "docs/ladder"
sys.dont_write_bytecode = True
sys.path[:0] = [str(LADDER / "timeline"), str(LADDER / "make")]

import instrument  # noqa: E402
import timeline  # noqa: E402

FILES = ("docs/ladder", "docs/results", "backends/cuda/gemm", "backends/cuda/reduce", "backends/cpu/gemm",
         "apps/gemm_compare/options/presets.cpp", "apps/gemm_compare/linear_algebra/textbook")
KERNELS = instrument.read_marks()
ADDED = re.compile(r'(?:if .*\) )?::tessera::timeline::\w+\(.*\);|#include "timeline/marks\.cuh"|TESSERA_TIMELINE_EXPORT\(\w+\)')


def without_marks(text):
    return [line for line in text.rstrip("\n").split("\n") if not ADDED.fullmatch(line)]


def warp(number, events, end, lost=0):
    return {"warp": number, "end_ns": end, "lost": lost, "events": [[timeline_phases.index(phase), start] for phase, start in events]}


timeline_phases = ["load", "wait", "multiply", "store"]


def document(kernel, warps, date="2026-01-02T03:04:05Z"):
    return {"schema": "tessera.timeline/1", "kernel": kernel, "machine": {"device": "A made-up GPU", "date": date},
            "product": {"m": 64, "n": 32, "k": 16, "dtype": "f32", "math": "strict"},
            "clock": {"ns_per_cycle": 0.5, "timer_step_ns": 32, "block_ns_by_timer": 2000}, "phases": timeline_phases, "warps": warps}


PLAIN = document("double_buffer", [warp(0, [("load", 0), ("multiply", 500), ("store", 1500)], 2000),
                                   warp(1, [("load", 100), ("wait", 600), ("multiply", 1000)], 1900)])
# The consumer's third phase began at 1000 and has no end, so that nothing is known of it later.
ROLES = document("stream_k", [warp(0, [("wait", 0), ("multiply", 250), ("wait", 1000)], 4000, lost=7),
                              warp(4, [("load", 0), ("wait", 500)], 3000)])


class Marks(unittest.TestCase):
    def test_marks_fit_the_sources(self):
        run = subprocess.run([sys.executable, "-B", LADDER / "timeline/instrument.py", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_nothing_but_marks_is_added(self):
        for name, kernel in KERNELS.items():
            copies = instrument.copies_of(name, kernel, ROOT)
            self.assertIn(f"cuda/gemm/{kernel['source']}", copies)
            put = 0
            for file, text in copies.items():
                shipped = (ROOT / "backends" / file).read_text(encoding="utf-8")
                kept = without_marks(text)
                while kept[-1] == "":
                    kept.pop()
                self.assertEqual(kept, shipped.rstrip("\n").split("\n"), file)
                put += text.count("::tessera::timeline::mark") + text.count("::tessera::timeline::begin") + text.count("::tessera::timeline::end")
            self.assertEqual(put, len(kernel["marks"]), name)

    def test_every_kernel_is_recorded(self):
        recorder = (LADDER / "timeline/record.cpp").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'\{"(\w+)", DType', recorder)), set(KERNELS))

    def test_a_line_that_changed(self):
        for name, kernel in KERNELS.items():
            for mark in kernel["marks"]:
                file = mark.get("file", kernel["source"])
                text = (ROOT / instrument.GEMM / file).read_text(encoding="utf-8")
                anchor = mark.get("before", mark.get("after"))
                for wrong, count in ((text.replace(f"\n{anchor}\n", f"\n{anchor} // new\n"), 0), (f"{text}\n{anchor}\n", 2)):
                    with self.assertRaisesRegex(instrument.WrongMarks, f"{re.escape(file)}: this line is there {count} times"):
                        instrument.with_marks(wrong, [mark], f"{instrument.GEMM}/{file}")

    def test_where_a_mark_goes(self):
        marks = [{"before": "  b;", "put": "load", "guard": "if (x)"}, {"after": "  b;", "put": "wait", "alone": True}, {"after": "  c;", "put": "end"}]
        self.assertEqual(instrument.with_marks("  a;\n  b;\n  c;\n", marks, "file").split("\n"), [
            "  a;", "if (x) ::tessera::timeline::mark(::tessera::timeline::Phase::Load);", "  b;",
            "::tessera::timeline::mark_alone(::tessera::timeline::Phase::Wait);", "  c;", "::tessera::timeline::end();", ""])

    def test_marks_that_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "marks.toml"
            for mark, said in (('{ before = "x", put = "rest" }', "puts 'rest'"), ('{ put = "load" }', "one of before and after"),
                               ('{ before = "x", put = "begin" }', "one that puts end")):
                path.write_text(f'[k]\nsource = "s"\nblock = 1\nshows = ""\nmarks = [{mark}]\n', encoding="utf-8")
                with self.assertRaisesRegex(instrument.WrongMarks, said):
                    instrument.read_marks(path)

    def test_copies_that_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            copies = pathlib.Path(folder)
            instrument.write(copies, KERNELS, ROOT)
            times = {path: path.stat().st_mtime_ns for path in copies.rglob("*") if path.is_file()}
            changed = copies / "stream_k/cuda/gemm/stream_k/kernel.cuh"
            changed.write_text("old", encoding="utf-8")
            instrument.write(copies, KERNELS, ROOT)
            self.assertIn("timeline::begin", changed.read_text(encoding="utf-8"))
            self.assertEqual({path for path, time in times.items() if path.stat().st_mtime_ns != time}, {changed})


class Pictures(unittest.TestCase):
    def test_time_until_all_is_known(self):
        self.assertEqual(timeline.spans_of(PLAIN)[1], 2000)
        spans, until = timeline.spans_of(ROLES)
        self.assertEqual(until, 1000)
        self.assertEqual(spans, {0: [("wait", 0, 250), ("multiply", 250, 1000)], 4: [("load", 0, 500), ("wait", 500, 1000)]})

    def test_shares(self):
        spans, until = timeline.spans_of(ROLES)
        self.assertEqual(timeline.groups_of(spans), [("consumer", [0]), ("producer", [4])])
        self.assertEqual(timeline.shares(spans, until, [0]), {"load": 0, "wait": 0.25, "multiply": 0.75, "store": 0})
        self.assertEqual(timeline.alternative(ROLES), "stream_k, a block's warps over 1 µs: consumer warp 0: multiply 75 %, wait 25 %; "
                         "producer warp 4: load 50 %, wait 50 %")
        plain, until = timeline.spans_of(PLAIN)
        self.assertEqual(timeline.groups_of(plain), [("", [0, 1])])
        self.assertEqual(timeline.shares(plain, until, [0, 1]), {"load": 0.25, "wait": 0.1, "multiply": 0.475, "store": 0.125})

    def test_bars(self):
        drawing = ElementTree.fromstring(timeline.drawn(PLAIN))
        bars = [(one.get("class"), len(re.findall("M", one.get("d")))) for one in drawing.iter("{http://www.w3.org/2000/svg}path") if "z" in one.get("d")]
        self.assertEqual(bars, [("b", 1), ("a", 1), ("c", 1), ("b", 1), ("quiet", 1), ("a", 1)])
        words = " ".join(drawing.itertext())
        for said in ("double_buffer: one block's time", "64×32×16, f32, A made-up GPU", "load", "wait", "multiply", "store", "0.5 µs", "warp 1"):
            self.assertIn(said, words)
        self.assertIn("stream_k: one block's first 1 µs", timeline.drawn(ROLES))

    def test_grid(self):
        self.assertEqual([timeline.grid_step(ns) for ns in (8, 9, 40, 41, 9000, 80000)], [1, 2, 5, 10, 2000, 10000])


class Pages(unittest.TestCase):
    def test_pages_of_what_was_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in FILES:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, root / name)
            for old in (root / "docs/results").glob("*-timeline-*.json"):
                old.unlink()

            def run(*options):
                done = subprocess.run([sys.executable, root / "docs/ladder/make_ladder.py", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                return done.returncode, done.stdout

            self.assertEqual(run(), (0, ""))
            page, rung = root / timeline.PAGE, root / "docs/ladder/cuda/12_double_buffer.md"
            self.assertFalse(page.exists())
            self.assertNotIn("## A block's time", rung.read_text(encoding="utf-8"))

            for one in (PLAIN, ROLES):
                (root / f"docs/results/made-timeline-{one['kernel']}.json").write_text(json.dumps(one), encoding="utf-8")
            self.assertIn("12_double_buffer.md is not what", run("--check")[1])
            self.assertEqual(run(), (0, ""))
            self.assertEqual(run("--check"), (0, ""))
            text = rung.read_text(encoding="utf-8")
            self.assertIn("| warps 0 to 1 | 25 % | 10 % | 48 % | 12 % |", text)
            self.assertIn("(../pictures/cuda/12_double_buffer/timeline-double_buffer.svg)", text)
            self.assertIn("[`made-timeline-double_buffer.json`](../../results/made-timeline-double_buffer.json)", text)
            text = page.read_text(encoding="utf-8")
            self.assertIn("| producer: warp 4 | 50 % | 50 % | 0 % | 0 % |", text)
            self.assertIn("Of the warps' later phases 7 are not shown.", " ".join(text.split()))
            self.assertIn("[A block's time](timelines.md)", (root / "docs/ladder/cuda/README.md").read_text(encoding="utf-8"))
            for target in re.findall(r"\]\(([^)#:]+)\)", text):
                self.assertTrue((page.parent / target).exists() or (ROOT / page.relative_to(root).parent / target).exists(), target)


if __name__ == "__main__":
    unittest.main()
