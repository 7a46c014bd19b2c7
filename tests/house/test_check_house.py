"""Shows that check_house.py finds what it should: each test breaks one rule in a small checkout and expects its line."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_house.py")

ARCHITECTURE = """# Architecture

<!-- includes -->

| files in | may include |
|---|---|
| `include/tessera` | `include/tessera` |
| `backends/cuda/gemm/textbook`, `backends/cuda/gemm/slender` | `backends/cuda/gemm/common` |
| `backends/cuda/gemm/common` | `backends/cuda/gemm/common` |

<!-- end -->
"""


class CheckHouse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write("docs/architecture.md", ARCHITECTURE)
        self.write("backends/cuda/gemm/common/grid.cuh", "/// The grid of a kernel.\n")
        self.write("backends/cuda/gemm/slender/tiles.cuh", '#include "cuda/gemm/common/grid.cuh"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self):
        subprocess.run(["git", "-C", str(self.root), "add", "-A"], check=True)
        run = subprocess.run([sys.executable, str(CHECK), str(self.root)], stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout

    def expect(self, finding):
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(finding, output)

    def test_a_clean_checkout(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_an_include_across_families(self):
        self.write("backends/cuda/gemm/textbook/rungs.cuh", '\n#include "cuda/gemm/slender/tiles.cuh"\n')
        self.expect("backends/cuda/gemm/textbook/rungs.cuh:2: files in backends/cuda/gemm/textbook may not include")

    def write_textbook(self, rungs, rows):
        for name, text in rungs.items():
            self.write(f"backends/cuda/gemm/textbook/{name}", text)
        table = "".join(f"| {number} | {kernel} | an idea |\n" for number, kernel in rows)
        self.write("backends/cuda/gemm/textbook/README.md", f"# Textbook\n\n| number | kernel | idea |\n|---|---|---|\n{table}")

    RUNGS = {"01_naive.cu": '__global__ void naive() {} // "naive"\n', "02_tile.cu": '__global__ void tile() {} // "tile"\n',
             "sides/k1_kahan.cu": '__global__ void kahan() {} // "kahan"\n'}
    ROWS = [("01", "naive"), ("02", "tile"), ("k1", "kahan")]

    def textbook_findings(self, rungs, rows):
        self.write_textbook(rungs, rows)
        return [line for line in self.check()[1].splitlines() if re.search("a rung's|neither holes|: lists|does not list", line)]

    def test_a_textbook_in_order(self):
        self.assertEqual(self.textbook_findings(self.RUNGS, self.ROWS), [])

    def test_a_rung_whose_kernel_is_in_a_header(self):
        found = self.textbook_findings({**self.RUNGS, "02_tile.cu": '#include "tile.cuh"\n// __global__: "tile"\n'}, self.ROWS)
        self.assertTrue(any("02_tile.cu:1: has no kernel" in line for line in found), found)

    def test_rungs_of_the_processor_have_loops(self):
        self.write("backends/cpu/gemm/textbook/01_naive.cpp", 'Status run() { return blocked_product(); } // "naive"\n')
        self.write("backends/cpu/gemm/textbook/README.md", "| 01 | naive | an idea |\n")
        self.expect("backends/cpu/gemm/textbook/01_naive.cpp:1: has no loop")

    def test_holes_and_twins_of_numbers(self):
        rungs = {name: text for name, text in self.RUNGS.items() if name != "02_tile.cu"}
        for other in ("03_tile.cu", "01_tile.cu"):
            found = self.textbook_findings({**rungs, other: self.RUNGS["02_tile.cu"]}, self.ROWS)
            self.assertTrue(any("neither holes nor twins" in line for line in found), found)
            (self.root / "backends/cuda/gemm/textbook" / other).unlink()
        found = self.textbook_findings({**self.RUNGS, "tile_3.cu": self.RUNGS["02_tile.cu"]}, self.ROWS)
        self.assertTrue(any("tile_3.cu:1: a rung's name begins with" in line for line in found), found)

    def test_what_a_textbooks_readme_lists(self):
        cases = ((self.ROWS[:2], "does not list"), (self.ROWS + [("k2", "more")], "lists k2, and no file here"),
                 ([self.ROWS[1], self.ROWS[0], self.ROWS[2]], "out of order"), ([self.ROWS[0], self.ROWS[2], self.ROWS[1]], "out of order"),
                 ([("01", "other")] + self.ROWS[1:], "lists other as 01"))
        for rows, wanted in cases:
            found = self.textbook_findings(self.RUNGS, rows)
            self.assertTrue(any(wanted in line for line in found), (rows, found))

    def test_another_structure_for_the_size_of_a_product(self):
        for members in ("  Index m, n, k;\n", "  Index m = 0;  ///< rows of C\n  Index n = 0;\n  Index k = 0;\n", "  int64_t m = 0, n = 0, k = 0;\n"):
            self.write("apps/some/sizes.hpp", "struct Sizes {\n" + members + "};\n")
            self.expect("apps/some/sizes.hpp:2: has members m, n and k; use a GemmShape")

    def test_a_public_header_that_leaves_macros_in_place(self):
        self.write("include/tessera/matrix.hpp", "namespace tessera {}\n\n#include <tessera/detail/macros_on.hpp>\n")
        self.expect("include/tessera/matrix.hpp:1: includes no <tessera/detail/macros_off.hpp>")
        self.write("include/tessera/matrix.hpp", "#include <vector>\n\n#include <tessera/detail/macros_off.hpp>\n\nnamespace tessera {}\n")
        self.expect("include/tessera/matrix.hpp:1: does not end with <tessera/detail/macros_on.hpp>")

    def test_a_join_without_its_header(self):
        self.write("tests/apps/cli/words.cpp", "#include <fmt/format.h>\nauto x = fmt::join(a, b);\n")
        self.expect("tests/apps/cli/words.cpp:1: names fmt::join")

    def test_a_public_header_that_includes_a_backend(self):
        self.write("include/tessera/matrix.hpp", '#include "cuda/gemm/common/grid.cuh"\n')
        self.expect("include/tessera/matrix.hpp:1: files in include/tessera may not include")

    def test_a_folder_without_a_row(self):
        self.write("apps/new/main.cpp", "int main() {}\n")
        self.expect("apps/new/main.cpp:1: docs/architecture.md has no row for apps/new")

    def test_a_folder_of_a_backend_without_a_row_of_its_own(self):
        self.write("backends/cuda/gemm/slender/stages/pipe.cuh", "/// A pipeline.\n")
        self.expect("backends/cuda/gemm/slender/stages/pipe.cuh:1: docs/architecture.md has no row for backends/cuda/gemm/slender/stages itself")

    def allow(self, folder, allowed):
        row = f"| `{folder}` | " + ", ".join(f"`{name}`" for name in allowed) + " |\n"
        page = (self.root / "docs/architecture.md").read_text(encoding="utf-8")
        self.write("docs/architecture.md", page.replace("\n<!-- end -->", row + "\n<!-- end -->"))

    def test_a_circle_of_two_folders(self):
        self.allow("src/one", ["src"])
        self.allow("src/two", ["src"])
        self.write("src/one/storage.hpp", '#include "two/registry.hpp"\n')
        self.write("src/two/registry.hpp", "#pragma once\n")
        self.assertEqual(self.check()[0], 0)
        self.write("src/two/executor.cpp", '\n#include "one/storage.hpp"\n')
        self.expect("folders include one another in a circle: src/one/storage.hpp includes src/two/registry.hpp; "
                    "src/two/executor.cpp includes src/one/storage.hpp")

    def test_a_circle_of_three_folders(self):
        for folder in "abc":
            self.allow(f"src/{folder}", ["src"])
        self.write("src/a/a.hpp", '#include "b/b.hpp"\n')
        self.write("src/b/b.hpp", '#include "c/c.hpp"\n')
        self.write("src/c/c.hpp", "#pragma once\n")
        self.assertEqual(self.check()[0], 0)
        self.write("src/c/d.cpp", '#include "a/a.hpp"\n')
        self.expect("circle: src/a/a.hpp includes src/b/b.hpp; src/b/b.hpp includes src/c/c.hpp; src/c/d.cpp includes src/a/a.hpp")

    def test_a_folder_and_one_inside_it_are_no_circle(self):
        self.allow("src/a", ["src"])
        self.allow("src/a/inner", ["src"])
        self.write("src/a/a.hpp", '#include "a/inner/b.hpp"\n')
        self.write("src/a/inner/b.hpp", "#pragma once\n")
        self.write("src/a/inner/c.cpp", '#include "a/a.hpp"\n')
        self.assertEqual(self.check()[0], 0)

    def test_an_include_by_a_relative_path(self):
        self.write("backends/cuda/gemm/slender/kernel.cuh", '#include "../common/grid.cuh"\n')
        self.expect("backends/cuda/gemm/slender/kernel.cuh:1: includes ../common/grid.cuh")

    def test_an_instruction_that_old_devices_lack(self):
        copy = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));\n'
        arrive = 'asm volatile(\n    "{ .reg .b64 state; mapa.shared::cluster.u32 %0, %1, 0; }"\n    : "=r"(x) : "r"(y));\n'
        for name, text, finding in (
            ("a", copy, ":1: an instruction of compute capability 8.0"),
            ("b", "#if __CUDA_ARCH__ >= 800\nint a;\n#else\n" + copy + "#endif\n", ":4: an instruction of compute capability 8.0"),
            ("c", "#if __CUDA_ARCH__ >= 800\n" + arrive + "#endif\n", ":3: an instruction of compute capability 9.0"),
            ("d", "int x = __reduce_max_sync(~0u, y);\n", ":1: an instruction of compute capability 8.0"),
        ):
            self.write(f"backends/cuda/gemm/common/{name}.cuh", text)
            self.expect(f"backends/cuda/gemm/common/{name}.cuh{finding}")

    def test_instructions_in_code_for_their_devices(self):
        copy = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));\n'
        for text in (
            "#if __CUDA_ARCH__ >= 800\n#if defined(A)\n" + copy + "#endif\n#endif\n",
            "#ifdef A\nint a;\n#elif __CUDA_ARCH__ >= 900\n" + copy + "#endif\n",
            "#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n" + copy + "#endif\n",
            'constexpr auto summary = "fed by cp.async";\n#include "cuda/gemm/common/grid.cuh"\n',
        ):
            self.write("backends/cuda/gemm/common/copies.cuh", text)
            status, output = self.check()
            self.assertEqual(status, 0, output)

    def test_a_clock_outside_the_stopwatch(self):
        self.write("backends/cuda/gemm/common/wait.cuh", "auto start = std::chrono::steady_clock::now();\n")
        self.expect("backends/cuda/gemm/common/wait.cuh:1: reads a clock")

    def test_a_word_in_a_comment(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// The warps\n/// who copy wait here.\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:2: 'who'")

    def test_a_comment_that_leans_on_the_one_before(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// Returns the bytes of A.\nint a();\n/// Returns the same of B.\nint b();\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:3: 'Returns the same of': say what it does")

    def test_a_word_behind_code(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "int n; // nobody reads it\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:1: 'nobody'")

    def test_a_name_with_another_word_in_the_field(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// See early_launch.\n")
        self.expect("programmatic dependent launch")

    def test_words_for_what_has_another_name(self):
        for text, instead in (("The card copies.", "GPU"), ("Graphics cards copy.", "GPU"), ("This row of the ladder rejects.", "kernel"),
                              ("The ladder rows add.", "kernel"), ("The ladder's rows add.", "kernel"),
                              ("Canonical kernels agree.", "strict sum, keeps the contract"), ("The canonical sum of a segment.", "strict sum"),
                              ("Hopper's units add.", "matrix units"), ("Copies start behind the last product.", "after"),
                              ("The event is recorded behind each part.", "after")):
            self.write("backends/cuda/gemm/common/ring.cuh", f"/// {text}\n")
            self.expect(f": {instead}")

    def test_words_that_only_look_like_these(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// Discards wildcards of row 3 of C, in units of u, by `canonical`, and leaves nothing behind.\n")
        self.write("docs/page.md", "# A page\n\nSee [the lab](lab/many.md#cards-that-copy), or `card/`.\n")
        self.write("docs/lab/many.md", "# Cards that copy\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_name_in_a_docstring(self):
        self.write("tests/core/one.py", 'def f():\n    """Asks a card.\n\n    >>> card(1)\n    """\n    card = "card"\n    return card\n')
        status, output = self.check()
        self.assertEqual((status, output), (1, "tests/core/one.py:2: 'card': GPU; in code the executor's device\n"))

    def test_a_name_in_a_table(self):
        self.write("docs/page.md", "# A page\n\n| file | what |\n|---|---|\n| `card.cpp` | asks a card |\n")
        status, output = self.check()
        self.assertEqual((status, output), (1, "docs/page.md:5: 'card': GPU; in code the executor's device\n"))

    def glossary(self, *entries):
        self.write("docs/glossary.md", "# Glossary\n\n| term | what it means here |\n|---|---|\n" + "".join(f"| {entry} |\n" for entry in entries))

    def test_a_glossary_that_knows_all_folders(self):
        self.glossary("ladder | Ordered kernels ([page](architecture.md)).", "slender, few rows | Few rows ([page](architecture.md)).")
        self.assertEqual(self.check(), (0, "4 files: nothing to say\n"))

    def test_a_folder_that_the_glossary_does_not_know(self):
        self.glossary("ladder | Ordered kernels ([page](architecture.md)).")
        self.expect("backends/cuda/gemm/slender:1: docs/glossary.md has no entry for the folder slender")

    def test_a_glossary_out_of_order(self):
        self.glossary("slender | Few rows ([page](architecture.md)).", "ladder | Ordered kernels ([page](architecture.md)).")
        self.expect("docs/glossary.md:6: 'ladder' is out of alphabetical order")

    def test_a_meaning_that_is_long_or_has_no_page(self):
        self.glossary("slender | " + "word " * 60 + ".")
        self.expect("docs/glossary.md:5: 'slender' has 301 characters")
        self.expect("docs/glossary.md:5: 'slender' links to no page")

    def test_a_fragment(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// Of two, since others may still read the one before.\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:1: the comment begins as a fragment")

    def test_words_in_strings_and_in_code_are_no_prose(self):
        self.write("backends/cuda/gemm/common/ring.cuh", 'const char* text = "// who is there";\nint who = 1;\n')
        self.write("docs/page.md", "# A page\n\n```sh\nwho am i\n```\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_wide_line(self):
        self.write("docs/page.md", "word " * 25 + "\n")
        self.expect("docs/page.md:1: 125 columns")

    def test_a_long_readme(self):
        self.write("backends/cuda/README.md", "line\n\n" * 31)
        self.expect("backends/cuda/README.md:1: 62 lines; this README has at most 60")

    def test_a_header_that_opens_with_a_contract(self):
        self.write("include/tessera/sum.hpp", "#pragma once\n\n/// A sum.\n///\n///     code();\n" + "/// A rule.\n" * 15)
        self.expect("include/tessera/sum.hpp:1: opens with 16 lines of prose; at most 15")

    def test_results_that_newer_runs_have_superseded(self):
        self.write("docs/results/old.json", "{}" * (2 << 20) + "\n")
        self.expect("docs/results:1: 4194305 bytes; at most 4194304")

    def test_links_that_lead_somewhere(self):
        self.write("docs/page.md", "# A page: `gemm`, twice\n\n[a](#a-page-gemm-twice) [b](architecture.md#architecture)\n"
                   "[c](../backends/cuda) [d](https://example.org/x.md#y) `[e](nowhere.md)`\n\n```text\n[f](nowhere.md)\n```\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_link_to_no_file(self):
        self.write("docs/page.md", "A [page](pages/other.md).\n")
        self.expect("docs/page.md:1: the link pages/other.md leads nowhere: there is no docs/pages/other.md")

    def test_a_link_to_no_heading(self):
        self.write("docs/page.md", "# Same\n\n# Same\n\n[right](#same-1)\n[wrong](#same-2)\n")
        self.expect("docs/page.md:6: the link #same-2 names a heading that docs/page.md does not have")

    def test_a_link_to_a_heading_of_a_folder(self):
        self.write("docs/README.md", "# Pages\n")
        self.write("docs/page.md", "# A page\n\n[right](../docs#pages)\n[wrong](../docs#files)\n")
        self.expect("docs/page.md:4: the link ../docs#files names a heading that docs/README.md does not have")

    def test_a_link_to_a_line_of_a_file(self):
        self.write("docs/page.md", "# A page\n\n[line](../backends/cuda/gemm/common/grid.cuh#L1)\n")
        self.expect("docs/page.md:3: the link ../backends/cuda/gemm/common/grid.cuh#L1 names an anchor of")

    def test_an_anchor_that_html_names(self):
        self.write("docs/page.md", '# A page\n\n<a id="here"></a> [here](#here)\n')
        self.expect("docs/page.md:3: the link #here names a heading that docs/page.md does not have")

    def test_a_heading_without_a_blank(self):
        self.write("docs/page.md", "#A page\n\n## A part\n")
        self.expect("docs/page.md:1: '#A' is no heading; put a blank after the #")

    def test_headings_that_skip_a_level(self):
        self.write("docs/page.md", "# A page\n\n### A part\n")
        self.expect("docs/page.md:3: the heading 'A part' skips a level; write it with ##")

    def test_a_page_without_a_heading(self):
        self.write("docs/page.md", "```sh\n# no heading\n```\n")
        self.expect("docs/page.md:1: has no heading")

    def test_markup_that_myst_takes_for_something_else(self):
        self.write("docs/page.md", "# A page\n\nSet {name}`code`, or `{name}`, or `{a}` {b} `c`.\n")
        status, output = self.check()
        self.assertEqual((status, output.count("role of MyST")), (1, 1), output)
        self.assertIn("docs/page.md:3: a name in braces before code is a role of MyST", output)

    def test_a_link_that_is_defined_elsewhere(self):
        self.write("docs/page.md", "# A page\n\n[this][page]\n\n[page]: architecture.md\n")
        self.expect("docs/page.md:5: defines a link apart from where it is")

    def test_a_picture_on_another_server(self):
        self.write("docs/page.md", "# A page\n\n![p](https://example.org/p.png)\n")
        self.expect("docs/page.md:3: the picture is on another server")

    def test_code_in_an_unknown_language(self):
        self.write("docs/page.md", "# A page\n\n```{note}\ntext\n```\n")
        self.expect("docs/page.md:3: code in '{note}'")

    def test_code_that_does_not_end(self):
        self.write("docs/page.md", "# A page\n\n```sh\nls\n")
        self.expect("docs/page.md:1: fenced code does not end")

    def contents(self, *pages):
        self.write("docs/site/contents.toml", f'[[section]]\ncaption = "All"\npages = {list(pages)}\n')

    @unittest.skipIf(sys.version_info < (3, 11), "tomllib is part of Python from 3.11 on")
    def test_a_page_without_a_place_on_the_site(self):
        self.write("SECURITY.md", "# Security\n")
        self.write("docs/lab/README.md", "# Lab\n")
        self.write("docs/lab/one.md", "# One\n")
        self.contents("docs/architecture.md", "docs/lab/README.md", "reference/python.md")
        status, output = self.check()
        self.assertEqual((status, output), (1, "SECURITY.md:1: has no place on the site; name it in docs/site/contents.toml\n"))

    @unittest.skipIf(sys.version_info < (3, 11), "tomllib is part of Python from 3.11 on")
    def test_contents_that_name_no_page(self):
        self.contents("docs/architecture.md", "docs/gone.md")
        self.expect("docs/site/contents.toml:1: names docs/gone.md, and there is no such page")

    @unittest.skipIf(sys.version_info < (3, 11), "tomllib is part of Python from 3.11 on")
    def test_contents_that_name_a_page_twice(self):
        self.contents("docs/architecture.md", "docs/architecture.md")
        self.expect("docs/site/contents.toml:1: names docs/architecture.md 2 times")

    def test_a_full_folder(self):
        for number in range(30):
            self.write(f"backends/cuda/gemm/common/file_{number}.cuh", "")
        self.expect("backends/cuda/gemm/common:1: 31 files")

    def release(self, project="0.2.1", header="0.2.1", parts=(0, 2, 1), cited="0.2.1", date="2027-01-02", heading="0.2.1 (2027-01-02)"):
        numbers = "".join(f"#define TESSERA_VERSION_{name} {part}\n" for name, part in zip(("MAJOR", "MINOR", "PATCH"), parts))
        self.write("CMakeLists.txt", f"project(tessera VERSION {project} LANGUAGES CXX)\n")
        self.write("include/tessera/version.hpp", f'/// The version.\n{numbers}#define TESSERA_VERSION "{header}"\n')
        self.write("CITATION.cff", f"cff-version: 1.2.0\nversion: {cited}\ndate-released: {date}\n")
        self.write("CHANGELOG.md", f"# Changelog\n\n## Unreleased\n\n## {heading}\n\n## 0.2.0 (2026-12-01)\n")
        self.write("docs/site/contents.toml", '[[section]]\npages = ["CHANGELOG.md", "docs/architecture.md"]\n')

    def test_files_of_one_version(self):
        self.release()
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_version_that_one_file_lacks(self):
        for wrong, name in (({"project": "0.2.0"}, "CMakeLists.txt"), ({"cited": "0.2.10"}, "CITATION.cff"),
                            ({"heading": "0.2.2 (2027-01-02)"}, "CHANGELOG.md"), ({"parts": (0, 2, 0)}, "include/tessera/version.hpp")):
            with self.subTest(name):
                self.release(**wrong)
                self.expect(f"{name}:1: has version ")
        self.release(date="2027-01-03")
        self.expect("CITATION.cff:1: is of 2027-01-03, and CHANGELOG.md has 0.2.1 on 2027-01-02")

    def test_a_command_of_ci_that_no_workflow_runs(self):
        self.write(".ci/run", "#!/bin/bash\n./tessera test\n./tessera check\ntests/fresh/debian.sh\n")
        self.write(".github/workflows/ci.yml", "command: ./tessera test\ncommand: ./tessera check quick\n- run: tests/fresh/debian.sh\n")
        status, output = self.check()
        self.assertEqual((status, output), (1, ".ci/run:3: no workflow of .github runs './tessera check'\n"))


if __name__ == "__main__":
    unittest.main()
