"""Tests what makes the pages of the ladders, docs/ladder: that a change makes them stale, what the pictures count, and how measured
counters come into docs/results. docs.ladder itself compares the pages with the sources."""

import contextlib
import io
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
sys.path[:0] = [str(LADDER), str(LADDER / "make")]

import beside_ncu  # noqa: E402
import cpp_values  # noqa: E402
import drawing  # noqa: E402
import factors  # noqa: E402
import gpu_pictures  # noqa: E402
import keep_measured  # noqa: E402
import measured  # noqa: E402
import overview  # noqa: E402
import pages  # noqa: E402
import rungs  # noqa: E402
import work  # noqa: E402

TABLE = """==PROF== Profiling "float4" - 0: 0%....50%....100% - 12 passes

m = 2048, n = 1024, k = 512, f32
cuda     float4 ≡  613.4 µs    ±5 %
"ID","Kernel Name","Device","dram__bytes_read.sum","gpu__time_duration.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
"","","","Mbyte","msecond","","","inst","inst"
"0","void float4<float, 0, 1>(VectorOperands<float>)","0","50.5","1.25","1,048,576","16,777,216","0.001","1.2345678"
"""
FILES = ("docs/ladder", "docs/results", "backends/cuda/gemm", "backends/cuda/reduce", "backends/cpu/gemm",
         "apps/gemm_compare/options/presets.cpp", "apps/gemm_compare/linear_algebra/textbook")


LADDERS = rungs.read_all()


def rung(ladder, name):
    return next(one for one in LADDERS[ladder] if one.name == name)


class Stale(unittest.TestCase):
    """A copy of the files that the pages are made from."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, self.root / name)

    def run_program(self, *options):
        run = subprocess.run([sys.executable, self.root / "docs/ladder/make_ladder.py", *options],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return run.returncode, run.stdout

    def change(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_every_kind_of_change(self):
        tiled, vectors = rung("cuda", "tile_1d"), rung("cuda", "float4")
        self.change(tiled.file, "constexpr int tile_n = 64;", "constexpr int tile_n = 32;")
        self.change(vectors.file, ".traffic = tile_traffic", ".traffic = coalesced_traffic")
        result = "docs/results/h100-sum-of-squares.json"
        document = json.loads((self.root / result).read_text(encoding="utf-8"))
        for row in document["results"]:
            if row["kernel"] == "tree_strided":
                row["seconds"]["median"] *= 2
        (self.root / result).write_text(json.dumps(document), encoding="utf-8")
        self.change("docs/ladder/limits.toml", "[cpu.transposed]\nlimits = \"", "[cpu.transposed]\nlimits = \"Now: ")
        by_hand = self.root / rung("cpu", "naive").page
        by_hand.write_text(by_hand.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
        (self.root / "docs/ladder/cuda/99_gone.md").write_text("# 99\n", encoding="utf-8")

        status, said = self.run_program("--check")
        self.assertEqual(status, 1)
        for page in (tiled, vectors, rung("reduce", "tree_strided"), rung("cpu", "transposed"), rung("cpu", "naive")):
            self.assertIn(f"{page.page} is not what docs/ladder/make_ladder.py makes", said)
        self.assertIn(f"{tiled.stem}/tiles.svg is not", said)
        self.assertIn("99_gone.md is no longer made", said)
        self.assertNotIn(rung("cuda", "naive_flat").page, said)

        self.assertEqual(self.run_program(), (0, ""))
        self.assertEqual(self.run_program("--check"), (0, ""))
        self.assertFalse((self.root / "docs/ladder/cuda/99_gone.md").exists())
        earlier = "**The measured kernel was an earlier one**"
        self.assertIn(earlier, (self.root / vectors.page).read_text(encoding="utf-8"))
        self.assertNotIn(earlier, (self.root / rung("cuda", "z_order").page).read_text(encoding="utf-8"))

    def test_prose_is_asked_for(self):
        self.change("docs/ladder/limits.toml", "[cpu.naive]", "[cpu.nothing]")
        status, said = self.run_program("--check")
        self.assertEqual(status, 1)
        self.assertIn("limits.toml has no entry [cpu.naive]", said)


    def test_factors(self):
        self.change("docs/ladder/factors.toml", '[qr_unblocked]\nop = "geqrf"\nkernel = "unblocked"\nlimits = "', '[qr_unblocked]\nop = "geqrf"\nkernel = "unblocked"\nlimits = "Now: ')
        self.change("apps/gemm_compare/linear_algebra/textbook/textbook.hpp", "Index block = 64;", "Index block = 32;")
        (self.root / "docs/ladder/factors/99_gone.md").write_text("# 99\n", encoding="utf-8")
        status, said = self.run_program("--check")
        self.assertEqual(status, 1)
        for page in ("08_qr_unblocked", "05_cholesky_right_looking", "README"):
            self.assertIn(f"docs/ladder/factors/{page}.md is not what", said)
        self.assertIn("99_gone.md is no longer made", said)
        self.assertNotIn("docs/ladder/reduce/", said)
        self.change("docs/ladder/factors.toml", "[lu_unblocked]", "[lu]")
        self.assertIn("factors.toml has no entry [lu_unblocked]", self.run_program("--check")[1])


class Factors(unittest.TestCase):
    """The counts of the part on factors, beside the sums of what each step reads and writes."""

    def test_counts(self):
        n, b = 8192, 64
        columns, blocks = range(n), range(0, n, b)
        steps = {
            "symmetric_product": ([2 * (i + 1) * n for i in columns], [i * n for i in columns], [i + 1 for i in columns]),
            "substitution": ([2 * i * n for i in columns], [i * n for i in columns], [n for i in columns]),
            "cholesky_unblocked": ([2 * (n - j) * j for j in columns], [(n - j) * j for j in columns], [n - j for j in columns]),
            "cholesky_left_looking": ([2 * (n - j) * j * b for j in blocks], [(n - j) * j for j in blocks], [(n - j) * b for j in blocks]),
            "cholesky_right_looking": ([(n - j) ** 2 * b for j in blocks], *([[(n - j) ** 2 / 2 for j in blocks]] * 2)),
            "lu_unblocked": ([2 * (n - j) ** 2 for j in columns], *([[(n - j) ** 2 for j in columns]] * 2)),
            "lu_right_looking": ([2 * (n - j) ** 2 * b for j in blocks], *([[(n - j) ** 2 for j in blocks]] * 2)),
            "qr_unblocked": ([4 * (n - j) ** 2 for j in columns], [2 * (n - j) ** 2 for j in columns], [(n - j) ** 2 for j in columns]),
        }
        self.assertEqual(set(steps), {one.name for one in factors.read_all()[0]})
        for name, counted in steps.items():
            for said, sums in zip(factors.COSTS[name].numbers(n, b), counted):
                self.assertAlmostEqual(said / sum(sums), 1, delta=0.02, msg=name)

    def test_every_rung_was_measured(self):
        measured_factors = factors.Measured()
        for one in factors.read_all()[0]:
            for n in measured_factors.sizes:
                self.assertGreater(measured_factors.rate(one.operation, one.kernel, n), 0)
            self.assertLessEqual(measured_factors.over_bound(one.operation, one.kernel), 1)


class Counts(unittest.TestCase):
    """What the pictures say, beside what is known of the rungs."""

    def sectors(self, name):
        return gpu_pictures.sectors_picture(rung("cuda", name), name)[1]

    def test_sectors(self):
        self.assertEqual(self.sectors("naive_strided"), {"A": 32, "B": 1})
        self.assertEqual(self.sectors("naive_coalesced"), {"A": 1, "B": 4})
        self.assertEqual(self.sectors("transposed_b"), {"A": 1, "B": 32})
        self.assertEqual(self.sectors("float4"), {"A": 16, "B": 16})

    def test_banks(self):
        """The counts of backends/cuda/gemm/README.md: float4's stores of A and reads of B, and none in z_order."""
        conflicts = lambda name: {words.split(",")[0] + " " + words.split()[-1]: count
                                  for words, _, count in gpu_pictures.banks_picture(rung("cuda", name), name)[1]}
        self.assertEqual(conflicts("float4"), {"A store": 1, "A read": 0, "B store": 0, "B read": 4})
        self.assertEqual(conflicts("conflict_free"), {"A store": 0, "A read": 0, "B store": 0, "B read": 4})
        self.assertEqual(conflicts("z_order"), {"A store": 0, "A read": 0, "B store": 0, "B read": 0})

    def test_reads_of_shared_memory_as_ncu_counted_them(self):
        """In these rungs a step reads as many vectors of A as of B, so that the mean of the two is what ncu counts a request."""
        compared = 0
        for name in ("float4", "double_buffer", "conflict_free", "z_order", "warp_tile"):
            counted = measured.counters().get((name, "f32"))
            if counted:
                reads = [waves for words, waves, _ in gpu_pictures.banks_picture(rung("cuda", name), name)[1] if "read" in words]
                metrics = counted["metrics"]
                requests = metrics["smsp__inst_executed_op_shared_ld.sum"]
                self.assertAlmostEqual(sum(reads) / 2, metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] / requests, 1, name)
                compared += 1
        self.assertGreater(compared, 0)

    def test_the_lens_sees_what_the_pictures_show(self):
        """Sectors of A and B, where the kernel reads the operands themselves."""
        compared = 0
        for one in LADDERS["cuda"]:
            for kernel in one.kernels:
                lines = [line for launch in measured.lens().get(kernel, {"launches": []})["launches"]
                         if launch["name"] in one.function_names() for line in launch["lines"]]  # not the copies before it
                counts = gpu_pictures.sectors_picture(one, kernel)[1] if kernel == one.kernels[-1] else {}
                for operand, sectors in counts.items():
                    seen = [line["sectors"] / line["requests"] for line in lines if line["access"] == "global load" and line.get("array") == operand]
                    if seen:
                        self.assertAlmostEqual(min(seen, key=lambda count: abs(count - sectors)), sectors, 2, f"{kernel}, {operand}")
                        compared += 1
        self.assertGreater(compared, 30)

    def test_the_lens_counts_what_ncu_counted(self):
        """All products that ncu has counted, to the last request, sector and wavefront, but for what limits.toml explains; and
        each explanation is of something that is so."""
        compared = 0
        for kernel, launches in beside_ncu.measured_by_ncu()["kernels"].items():
            products = beside_ncu.products(kernel)
            self.assertEqual(sorted(product.name for product in products), sorted(launches), kernel)
            explained, unexplained = beside_ncu.differences(kernel)
            self.assertEqual([], [(product.name, name, lens, counts) for product, name, lens, counts in unexplained], kernel)
            entry = beside_ncu.entries()[kernel]
            self.assertEqual({name for _, name, _, _ in explained}, {name for names in entry.get("differs", ()) for name in names["of"]}, kernel)
            for access in entry.get("repeats", {}).get(kernel, ()):
                counts = [product.other()[f"{access} wavefronts"] for product in products if f"{access} wavefronts" in product.other()]
                self.assertTrue(any(len(set(of)) > 1 for of in counts), f"{kernel}: {access} is the same in each launch")
            if "joined" in entry:
                self.assertTrue(all(product.source != product.lens for product in products), kernel)
            compared += sum(len(product.ncu) for product in products)
        self.assertGreater(compared, 150)

    def test_differences_are_found(self):
        """A count that is one too many, too few wavefronts where more are explained, and an access without an explanation."""
        name, launches = "f64 none 256", beside_ncu.measured_by_ncu()["kernels"]["tile_2d"]["f64 none 256"]
        sums = beside_ncu.counted_by_lens()["kernels"]["tile_2d"][name]
        for at, change, found in ((0, 1, True), (7, -40000, True), (7, 1, False), (5, 1, True)):
            other = [[count + change * (place == at) for place, count in enumerate(launch[:8])] for launch in launches]
            product = beside_ncu.Product("tile_2d", name, sums, other)
            with unittest.mock.patch.object(beside_ncu, "products", return_value=[product]):
                self.assertEqual(bool(beside_ncu.differences("tile_2d")[1]), found, beside_ncu.NAMES[at])

    def test_work(self):
        moved = work.of(rung("cuda", "shared_tile"), "shared_tile_32", 64, 96, 128, 4)
        self.assertEqual(moved.operations, 2 * 64 * 96 * 128)
        self.assertEqual(moved.bytes, 4 * (64 * 128 * 3 + 128 * 96 * 2 + 64 * 96))

    def test_work_as_gemm_compare_counts_it(self):
        """Every measured product of a rung has the accesses and the model's time of the report, unless its kernel has changed. A run
        may measure a bandwidth again and raise it after it has computed a time with the first one."""
        compared = 0
        for ladder in ("cuda", "cpu"):
            of = LADDERS[ladder]
            for run in measured.runs(ladder, tuple(kernel for one in of for kernel in one.kernels)):
                for one in of:
                    for row in run.rows:
                        ceiling = run.ceiling(row["math"])
                        element = measured.BYTES[run.dtype]
                        moved = row["kernel"] in one.kernels and work.of(one, row["kernel"], row["m"], row["n"], row["k"], element)
                        if not moved or not row["model_seconds"] or not work.agrees(row, moved):
                            continue
                        bandwidth, _ = work.level_of(ceiling, row["m"], row["n"], row["k"], element)
                        self.assertAlmostEqual(moved.seconds(ceiling["flops"], bandwidth) / row["model_seconds"], 1, 2, row["kernel"])
                        compared += 1
        self.assertGreater(compared, 50)

    def test_expressions(self):
        scope = cpp_values.Scope(["template <class T>\nconstexpr int side = 32 / sizeof(T);\nconstexpr int tile = 16 * side<T>;\n"
                                  "constexpr Place row_order(int thread, int across) {\n  return {thread / across, thread % across};\n}"])
        self.assertEqual(scope["tile"], 128)
        self.assertEqual(scope.value("static_cast<int>(x) % 5 == 2 ? tile : -1", x=7), 128)
        self.assertEqual(scope.value("row_order(19, 16)").across, 3)
        with self.assertRaises(cpp_values.NoValue):
            scope.value("unknown + 1")


class Pages(unittest.TestCase):
    def test_every_rung_has_a_page_with_pictures_that_are_drawn(self):
        for ladder, of in LADDERS.items():
            self.assertGreater(len(of), 8, ladder)
            for one in of:
                files = pages.Page(one, LADDERS).build()
                text = files[one.page]
                for part in ("**The idea.** ", "## What is read", "## The kernel", "## What was measured", "## What limits it"):
                    self.assertIn(part, text, one.page)
                for path, svg in files.items():
                    if path.endswith(".svg"):
                        self.assertIn(path.rpartition("/")[2], text)
                        self.check_picture(path, svg)

    def test_the_charts_of_the_ladders(self):
        files = overview.overview_page(LADDERS)
        for ladder, of in LADDERS.items():
            files |= overview.ladder_page(ladder, of)
        pictures = {path: text for path, text in files.items() if path.endswith(".svg")}
        charts = [path for path in pictures if "/timelines/" not in path]
        self.assertEqual(len(charts), 1 + len(LADDERS))
        for path, svg in pictures.items():
            self.check_picture(path, svg)

    def check_picture(self, path, svg):
        picture = ElementTree.fromstring(svg)
        self.assertIn("prefers-color-scheme:dark", svg, path)
        width, height = (float(picture.get(name)) for name in ("width", "height"))
        for shape in picture.iter():
            for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                if shape.get(name):
                    self.assertTrue(-1 <= float(shape.get(name)) <= most + 1, f"{path}: {shape.tag} {shape.attrib}")
            if shape.get("font-size"):  # in a window of 400 pixels, of which the site's margins take 32
                self.assertGreaterEqual(float(shape.get("font-size")) * min(1, 368 / width), 9, f"{path}: {shape.text}")

    def test_words_can_be_read_on_light_and_on_dark_pages(self):
        """The contrast of the words' colours with the ground is 4.5 at least, as WCAG asks (level AA)."""
        def luminance(colour):
            digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
            parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
            red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue

        for scheme in drawing.STYLE.split("@media"):
            fills = dict(re.findall(r"\.(\w+)\{fill:(#\w+)\}", scheme))
            for kind in ("ink", "dim", "a", "b", "c", "hot"):
                low, high = sorted(luminance(fills[name]) for name in (kind, "g"))
                self.assertGreaterEqual((high + 0.05) / (low + 0.05), 4.5, kind)

    def test_limits_are_of_rungs(self):
        for ladder, entries in rungs.PROSE.items():
            self.assertEqual(sorted(entries), sorted(one.name for one in LADDERS[ladder]))

    def test_marks(self):
        lines, old_shown = rung("cuda", "naive_coalesced").marked()
        self.assertTrue(old_shown)
        self.assertTrue([line for line in lines if re.match(r"\+.*origin\.col \+ threadIdx\.x", line)])
        self.assertTrue([line for line in lines if re.match(r"-.*origin\.row \+ threadIdx\.x", line)])


class Kept(unittest.TestCase):
    """keep_measured.py on tables as ncu writes them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results"
        self.results.mkdir()
        self.table("float4", TABLE)

    def table(self, kernel, text):
        (self.folder / "ncu-f32").mkdir(exist_ok=True)
        (self.folder / "ncu-f32" / f"{kernel}.csv").write_text(text, encoding="utf-8")

    def keep(self, *options):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            status = keep_measured.main([str(self.folder), "some", "--results", str(self.results), *options])
        return status, said.getvalue()

    def test_units_and_sizes(self):
        self.table("tile_1d", "==ERROR== ERR_NVGPUCTRPERM\n")
        status, said = self.keep("--device", "NVIDIA H100", "--date", "2026-01-02")
        self.assertEqual(status, 0)
        self.assertIn("tile_1d.csv: it has no table with a launch", said)
        document = json.loads((self.results / "some-counters-f32.json").read_text(encoding="utf-8"))
        self.assertEqual(document["schema"], "tessera.counters/1")
        self.assertEqual(document["machine"], {"device": "NVIDIA H100", "date": "2026-01-02"})
        (row,) = document["rows"]
        self.assertEqual((row["kernel"], row["dtype"], row["m"], row["n"], row["k"]), ("float4", "f32", 2048, 1024, 512))
        self.assertEqual(row["metrics"]["dram__bytes_read.sum"], 50500000)
        self.assertEqual(row["metrics"]["gpu__time_duration.sum"], 1250000)
        self.assertEqual(row["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 16777216)
        self.assertNotIn("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", row["metrics"])

    def test_what_is_missing(self):
        self.assertEqual(self.keep()[0], 2)  # no device is named
        self.table("float4", TABLE.replace("m = 2048", "m is 2048"))
        status, said = self.keep("--device", "a GPU")
        self.assertEqual(status, 1)
        self.assertIn("the line of gemm_compare that names the sizes", said)

    def test_a_report(self):
        shutil.rmtree(self.folder / "ncu-f32")
        row = {"kernel": "x", "seconds": {"median": 0.123456789}, "error": {"max_over_bound": 0.5, "ulps": {"0": 1}, "worst": []}, "freivalds": {}}
        (self.folder / "ladder-f32.json").write_text(json.dumps({"machine": {"date": "2026"}, "command": ["/a/b/gemm_compare", "--json", "/c/d.json"],
                                                                 "results": [row]}), encoding="utf-8")
        self.assertEqual(self.keep()[0], 0)
        text = (self.results / "some-ladder-f32.json").read_text(encoding="utf-8")
        self.assertEqual(json.loads(text)["results"], [{"kernel": "x", "seconds": {"median": 0.123457}, "error": {"max_over_bound": 0.5}}])
        self.assertEqual(json.loads(text)["command"], ["gemm_compare", "--json", "d.json"])


if __name__ == "__main__":
    unittest.main()
