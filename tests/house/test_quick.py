"""Shows what ./tessera check quick chooses (cmake/script/quick.py), and that its time ends.

test_quick.py BUILD: a configured build folder that has all tests.
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ROOT / "cmake/script/quick.py"
sys.dont_write_bytecode = True  # into the sources
sys.path.insert(0, str(QUICK.parent))

import quick  # noqa: E402

BUILD = None


class Quick(unittest.TestCase):
    def choice(self, *files):
        return quick.Choice(BUILD, files)

    def test_a_rung_of_the_processor(self):
        choice = self.choice("backends/cpu/gemm/textbook/01_naive.cpp")
        self.assertLessEqual({"unit", "conformance.openmp"}, choice.tests)
        self.assertIn("bin/tessera_conformance", choice.targets)
        self.assertFalse(choice.core_alone or "conformance.reference" in choice.tests)

    def test_a_rung_of_cuda(self):
        choice = self.choice("backends/cuda/gemm/textbook/01_naive.cu")
        if any(name.startswith("cuda.") for name in BUILD.tests):
            self.assertLessEqual({"cuda.choices", "conformance.cuda"}, choice.tests)
            self.assertIn("tessera_cuda", choice.targets)
        self.assertNotIn("unit", choice.tests)

    def test_a_file_of_python(self):
        self.assertEqual(self.choice("src/bindings/python/tessera/_table.py").tests, {"python"} & set(BUILD.tests))

    def test_pages(self):
        choice = self.choice("docs/c.md", "docs/lab/README.md", "backends/cpu/README.md")
        self.assertTrue(choice.tests and all(name.startswith("docs.c.") for name in choice.tests))
        self.assertEqual(choice.untested, ["docs/lab/README.md", "backends/cpu/README.md"])
        self.assertEqual(self.choice("README.md").tests, {"readme.program"})

    def test_a_public_header(self):
        choice = self.choice("include/tessera/gemm.hpp", "src/core/gemm/gemm.cpp")
        self.assertTrue(choice.core_alone)
        self.assertEqual(choice.tests, {"docs.comments"})
        self.assertFalse(self.choice("include/tessera/checking/check.hpp").core_alone)

    def test_the_report(self):
        choice = self.choice("apps/gemm_compare/report/page.cpp")
        self.assertIn("report", choice.tests)
        self.assertIn("bin/tessera_report_test", choice.targets)

    def test_a_test(self):
        self.assertEqual({name.split(".")[0] for name in self.choice("tests/extensions/files/streams.cpp").tests}, {"files"})

    def test_each_file_of_code_has_a_rule(self):
        if not (ROOT / ".git").exists():
            self.skipTest("no checkout")
        files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "include", "src", "backends", "apps"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        without = [file for file in files if not file.endswith(".md") and quick.rule_of(file)[0] == quick.NOTHING]
        self.assertEqual(without, [])

    def test_each_rule_names_a_test(self):
        import re
        # These are missing where their packages or files are.
        optional = ("cuda", "distributed", "python", r"docs\.performance", r"report\.browser")
        for pattern, tests, *_ in quick.RULES:
            if tests in (quick.CORE_ALONE, quick.OWN_TESTS, quick.NOTHING) or r"\1" in tests or tests.startswith(optional):
                continue
            for part in re.sub(r"\([^)]*\)", lambda group: group[0].replace("|", "\0"), tests).split("|"):
                part = part.replace("\0", "|")
                if not part.startswith(optional):
                    self.assertTrue(any(re.fullmatch(part, name) for name in BUILD.tests), f"{pattern}: {part}")


class Time(unittest.TestCase):
    def test_a_command_ends_where_the_time_is_over(self):
        start = time.monotonic()
        ended = subprocess.run([sys.executable, str(QUICK), "within", "1", "sh", "-c", "sleep 60 & wait"])
        self.assertEqual(ended.returncode, quick.OUT_OF_TIME)
        self.assertLess(time.monotonic() - start, 30)

    def test_the_status_of_a_command_that_ends_in_time(self):
        for status in 0, 3:
            command = [sys.executable, str(QUICK), "within", "60", "sh", "-c", f"exit {status}"]
            self.assertEqual(subprocess.run(command).returncode, status)

    def run_tests(self, seconds, fast, slow):
        """./tessera check quick's last step on tests of its own: `passes`, `fails` and `waits`."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "CTestTestfile.cmake").write_text(
                'add_test(passes "true")\nadd_test(fails "false")\nadd_test(waits "sleep" "60")\n'
                f'add_test(hears "{sys.executable}" "{folder}/hears.py")\n')
            (folder / "hears.py").write_text(
                "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(1))\ntime.sleep(60)\n")
            (folder / "fast").write_text("\n".join(fast))
            (folder / "slow").write_text("\n".join(slow))
            return subprocess.run([sys.executable, str(QUICK), "tests", str(seconds), str(folder), str(folder / "fast"),
                                   str(folder / "slow")], stdout=subprocess.PIPE, text=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))  # as in the background

    def test_tests_that_pass_and_fail(self):
        self.assertEqual(self.run_tests(60, ["passes"], []).returncode, 0)
        self.assertEqual(self.run_tests(60, ["passes"], ["fails"]).returncode, 1)

    def test_tests_that_do_not_end_are_named_and_are_no_failure(self):
        ended = self.run_tests(5, ["passes"], ["waits"])
        self.assertEqual(ended.returncode, quick.OUT_OF_TIME)
        self.assertIn("these tests did not run to their end: waits\n", ended.stdout)
        self.assertEqual(self.run_tests(5, ["hears"], []).returncode, quick.OUT_OF_TIME)
        self.assertEqual(self.run_tests(5, ["fails"], ["waits"]).returncode, 1)
        self.assertIn("end: passes\n", self.run_tests(0, ["passes"], []).stdout)


if __name__ == "__main__":
    BUILD = quick.Build(sys.argv.pop(1))
    unittest.main()
