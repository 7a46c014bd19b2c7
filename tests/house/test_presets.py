"""Shows that CMakePresets.json is what ./tessera configures: each preset is one that a command uses, has a build preset of
its name, and says all that does not depend on the machine."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
SCRIPTS = {name: (ROOT / name).read_text(encoding="utf-8")
           for name in ["tessera", "tests/fuzz/run.sh", *(f"cmake/script/{part.name}" for part in (ROOT / "cmake/script").glob("*.sh"))]}
# What a machine has: its compilers, ccache and Python, its GPUs, and whether its compiler's warnings are known.
OF_THE_MACHINE = {"CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CUDA_COMPILER_LAUNCHER",
                  "Python_EXECUTABLE", "TESSERA_CUDA", "TESSERA_CUDA_ARCHITECTURES", "TESSERA_OPTIMIZE_DEVICE_CODE",
                  "TESSERA_WERROR"}


def names(kind):
    return {preset["name"] for preset in PRESETS[kind] if not preset.get("hidden")}


class Presets(unittest.TestCase):
    def test_each_is_used_and_none_is_missing(self):
        used = set()
        for text in SCRIPTS.values():
            used |= set(re.findall(r"^\s*(?:configure|cmake .*--preset) ([a-z]+)", text, re.M))
        self.assertEqual(names("configurePresets"), used)

    def test_each_can_be_built(self):
        self.assertEqual(names("configurePresets"), names("buildPresets"))
        self.assertLessEqual(names("testPresets"), names("configurePresets"))
        for kind in "buildPresets", "testPresets":
            for preset in PRESETS[kind]:
                self.assertEqual(preset.get("configurePreset", preset["name"]), preset["name"])

    def test_the_script_says_only_what_the_machine_knows(self):
        for name, text in SCRIPTS.items():
            code = re.sub(r"^\s*#.*", "", text, flags=re.M)
            given = set(re.findall(r"-D ?(\w+)=", code)) - {"__malloc__"}
            self.assertLessEqual(given, OF_THE_MACHINE, name)

    def test_the_oldest_cmake_reads_them(self):
        self.assertEqual((PRESETS["version"], PRESETS["cmakeMinimumRequired"]["minor"]), (6, 25))
        listed = subprocess.run(["cmake", "--list-presets=all"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        for name in names("configurePresets"):
            self.assertIn(f'"{name}"', listed)

    def test_clean_removes_each_build(self):
        found = subprocess.run(["sh", "-c", 'root=$0 && . "$root/cmake/script/build.sh" && preset_names', str(ROOT)], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split()
        self.assertEqual(set(found), names("configurePresets"))
        self.assertIn("$(preset_names)", SCRIPTS["tessera"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
