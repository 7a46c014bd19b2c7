"""Shows that `ctest -L` lists what tests/README.md says: the part of Tessera by the folder of a test, and what needs a
GPU.

test_labels.py BUILD: a configured build folder that has all tests.
"""

import itertools
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True  # into the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake/script"))

import quick  # noqa: E402

PARTS = {"core": "core", "backends": "core", "extensions": "extension", "bindings": "binding"}
BUILD = None


class Labels(unittest.TestCase):
    def setUp(self):
        self.labels = {name: set(BUILD.property(name, "LABELS")) for name in BUILD.tests}

    def test_a_part_has_the_tests_of_its_folders_and_no_others(self):
        for name, labels in self.labels.items():
            part = PARTS.get(BUILD.folder_of(name).split("/")[1])
            self.assertEqual(labels & set(PARTS.values()), {part} - {None}, name)
        self.assertEqual(set().union(*self.labels.values()) & set(PARTS.values()), set(PARTS.values()))

    def test_no_label_is_a_part_of_another(self):  # ctest -L takes a regular expression
        for one, other in itertools.permutations(set().union(*self.labels.values()), 2):
            self.assertFalse(re.search(one, other), f"ctest -L {one} lists {other} too")

    def test_what_runs_on_a_gpu(self):
        for name, labels in self.labels.items():
            if re.fullmatch(r"\w+\.cuda|user_kernels\.cuda\..*", name):
                self.assertIn("gpu", labels, name)

    def test_some_are_slow(self):
        slow = {name for name, labels in self.labels.items() if "slow" in labels}
        self.assertLessEqual({"conformance.reference", "conformance.openmp"}, slow)
        self.assertNotIn("unit", slow)


if __name__ == "__main__":
    BUILD = quick.Build(sys.argv.pop(1))
    unittest.main()
