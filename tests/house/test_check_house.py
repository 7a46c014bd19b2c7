"""Shows that check_house.py finds what it should: each test breaks one rule in a small checkout and expects its line."""

import pathlib
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
        self.write("backends/cuda/gemm/textbook/01_naive.cu", '\n#include "cuda/gemm/slender/tiles.cuh"\n')
        self.expect("backends/cuda/gemm/textbook/01_naive.cu:2: files in backends/cuda/gemm/textbook may not include")

    def test_a_public_header_that_includes_a_backend(self):
        self.write("include/tessera/matrix.hpp", '#include "cuda/gemm/common/grid.cuh"\n')
        self.expect("include/tessera/matrix.hpp:1: files in include/tessera may not include")

    def test_a_folder_without_a_row(self):
        self.write("apps/new/main.cpp", "int main() {}\n")
        self.expect("apps/new/main.cpp:1: docs/architecture.md has no row for apps/new")

    def test_an_include_by_a_relative_path(self):
        self.write("backends/cuda/gemm/slender/kernel.cuh", '#include "../common/grid.cuh"\n')
        self.expect("backends/cuda/gemm/slender/kernel.cuh:1: includes ../common/grid.cuh")

    def test_a_clock_outside_the_stopwatch(self):
        self.write("backends/cuda/gemm/common/wait.cuh", "auto start = std::chrono::steady_clock::now();\n")
        self.expect("backends/cuda/gemm/common/wait.cuh:1: reads a clock")

    def test_a_word_in_a_comment(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// The warps\n/// who copy wait here.\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:2: 'who'")

    def test_a_word_behind_code(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "int n; // nobody reads it\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:1: 'nobody'")

    def test_a_name_with_another_word_in_the_field(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// See early_launch.\n")
        self.expect("programmatic dependent launch")

    def test_a_fragment(self):
        self.write("backends/cuda/gemm/common/ring.cuh", "/// Of two, since others may still read the one before.\n")
        self.expect("backends/cuda/gemm/common/ring.cuh:1: the comment begins as a fragment")

    def test_words_in_strings_and_in_code_are_no_prose(self):
        self.write("backends/cuda/gemm/common/ring.cuh", 'const char* text = "// who is there";\nint who = 1;\n')
        self.write("docs/page.md", "A page.\n\n```sh\nwho am i\n```\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_wide_line(self):
        self.write("docs/page.md", "word " * 25 + "\n")
        self.expect("docs/page.md:1: 125 columns")

    def test_a_long_readme(self):
        self.write("backends/cuda/README.md", "line\n\n" * 31)
        self.expect("backends/cuda/README.md:1: 62 lines; this README has at most 60")

    def test_links_that_lead_somewhere(self):
        self.write("docs/page.md", "# A page: `gemm`, twice\n\n[a](#a-page-gemm-twice) [b](architecture.md#architecture)\n"
                   "[c](../backends/cuda) [d](https://example.org/x.md#y) `[e](nowhere.md)`\n\n```md\n[f](nowhere.md)\n```\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_a_link_to_no_file(self):
        self.write("docs/page.md", "A [page](pages/other.md).\n")
        self.expect("docs/page.md:1: the link pages/other.md leads nowhere: there is no docs/pages/other.md")

    def test_a_link_to_no_heading(self):
        self.write("docs/page.md", "# Same\n\n# Same\n\n[right](#same-1)\n[wrong](#same-2)\n")
        self.expect("docs/page.md:6: the link #same-2 names a heading that docs/page.md does not have")

    def test_a_full_folder(self):
        for number in range(30):
            self.write(f"backends/cuda/gemm/common/file_{number}.cuh", "")
        self.expect("backends/cuda/gemm/common:1: 31 files")


if __name__ == "__main__":
    unittest.main()
