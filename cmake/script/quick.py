#!/usr/bin/env python3
"""Chooses what ./tessera check quick builds and runs from the files that a change touches, and keeps the time.

    quick.py choose BUILD FOLDER < FILES       writes the choice into files of FOLDER: `core` (yes where a public header
                                               of the core changed), `targets`, `tests` and `slow`, one word a line; the
                                               sentences that it prints say what it chose and what it left out
    quick.py within SECONDS COMMAND...         runs the command; ends it, with status 75, where the time is over
    quick.py tests SECONDS BUILD FILE...       runs the tests that the files name, one file after the other; where the
                                               time is over it lists what did not run, and the status is 75

FILES are paths below the root, one a line. BUILD is a configured folder of the preset `check`.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

OUT_OF_TIME = 75

CORE = r"unit|queues\.(reference|openmp)|conformance\.(reference|openmp)"
CORE_ALONE = "core alone"  # in the build of the core without extensions, in which a public header compiles the least
OWN_TESTS = "own tests"  # the tests that the file's own folder of tests declares
NOTHING = ""

# For each kind of file the tests that a change of it needs, as a regular expression; \1 is the rule's first group. The
# first rule that matches a path holds. A test's programs are built with it; a rule may name further targets.
RULES = (
    (r"docs/ladder/.*\.md$", r"docs\.ladder"),
    (r".*/README\.md$", NOTHING),
    (r"docs/performance\.md", r"docs\.performance"),
    (r"docs/modes\.md", r"docs\.modes.*|python", "tessera_python"),
    (r"docs/(?:.*/)?(?:python|pytorch)\.md", r"python", "tessera_python"),
    (r"(?:docs/(?:.*/)?)?(\w+)\.md$", r"docs\.\1\..*|\1\..*"), # its programs, and programs that it quotes
    (r".*\.md$", NOTHING),
    (r"apps/.*\.1$", r"cli\.manual\..*"),
    (r"include/tessera/checking/", r"unit\.extensions|certificate|verify|health|docs\.comments"),
    (r"include/tessera/interop/", r"unit|unit\.extensions|files\..*|docs\.comments"),
    (r"include/tessera/distributed/", r"distributed\.mpich\..*|docs\.comments"),
    (r"include/tessera/beyond_memory/", r"unit\.extensions|out_of_core\..*|docs\.comments"),
    (r"include/tessera/(detail/)?user_kernel/", r"user_kernels\.(reference|openmp|device\..*)|docs\.comments"),
    (r"include/tessera/tessera\.h$", r"c_api\..*|docs\.c\..*|docs\.comments"),
    (r"include/", CORE_ALONE),
    (r"src/core/backends/", CORE + r"|plugin\..*"),
    (r"src/core/tools/", r"unit|tools\.(reference|openmp)"),
    (r"src/core/", CORE),
    (r"src/extensions/checking/", r"unit\.extensions|certificate|verify|health"),
    (r"src/extensions/beyond_memory/", r"unit\.extensions|out_of_core\..*"),
    (r"src/extensions/distributed/", r"distributed\.mpich\..*"),
    (r"src/extensions/io/", r"unit\.extensions|files\..*"),
    (r"src/extensions/user_kernels/", r"user_kernels\.(reference|openmp|device\..*)"),
    (r"src/extensions/", r"unit\.extensions"),
    (r"src/bindings/c/", r"c_api\..*|docs\.c\..*"),
    (r"src/bindings/blas/", r"blas\.(tessera_blas|wrong_threads|displaced|errors|forwarded)\..*|blas\.netlib\.reference"),
    (r"src/bindings/python/", r"python", "tessera_python"),
    (r"src/bindings/", r"c_api\..*|blas\.tessera_blas\..*"),
    (r"src/CMakeLists", CORE),
    (r"backends/cpu/gemm/textbook/", r"unit|queues\.openmp|conformance\.(openmp|openmp\..*|fma_calls\.openmp)|docs\.ladder"),
    (r"backends/cuda/(gemm/textbook|reduce)/", r"cuda\..*|(queues|conformance)\.cuda|docs\.ladder(\.timeline)?", "tessera_cuda"),
    (r"backends/cuda/gemm/(stream_k|wgmma_tma)/", r"cuda\..*|(queues|conformance)\.cuda|docs\.ladder\.timeline", "tessera_cuda"),
    (r"backends/reference/", r"unit|(queues|conformance)\.reference"),
    (r"backends/(cpu|openmp)/", r"unit|queues\.openmp|conformance\.(openmp|openmp\..*|fma_calls\.openmp)"),
    (r"backends/tbb/", r"(queues|conformance)\.tbb"),
    (r"backends/cuda/", r"cuda\..*|(queues|conformance)\.cuda", "tessera_cuda"),
    (r"backends/opencl/", r"opencl\..*|(queues|conformance)\.opencl"),
    (r"backends/CMakeLists", CORE),
    (r"apps/gemm_compare/report/", r"report|report\.browser|cli\.files"),
    (r"apps/gemm_compare/operations/", r"operations|cli\.operations"),
    (r"apps/gemm_compare/options/", r"cli|cli\.(manual|large_files)\..*|fuzz\.replay"),
    (r"apps/gemm_compare/", r"cli|cli\.(products|verdicts|manual\..*)"),
    (r"apps/gemm_judge/", r"judge\..*|cli\.judged|docs\.kernels\.judged"),
    (r"apps/gemm_bench/", r"cli\.(measured|streams)"),
    (r"apps/tessera_info/", r"cli|cli\.manual\.tessera_info"),
    (r"apps/examples/", r"(user_kernels\.example|readme|start|cmake)\..*"),
    (r"apps/", r"cli|cli\.(streams|manual\..*)"),
    (r"tests/support/|tests/main\.cpp|tests/CMakeLists", CORE + r"|unit\.extensions"),
    (r"tests/fresh/", NOTHING),
    (r"tests/fuzz/", r"fuzz\.replay"),
    (r"tests/docs/", r"docs\..*"),
    (r"tests/.*/", OWN_TESTS),
    (r"docs/site/", r"docs\.(site|comments)"),
    (r"docs/results/", r"docs\.(performance|modes|ladder)"),
    (r"docs/ladder/", r"docs\.ladder.*"),
    (r"tessera$|cmake/script/|CMakePresets\.json|cmake/debian-packages\.txt", r"tessera\..*"),
    (r"CMakeLists\.txt|cmake/Tessera.*\.cmake", r"install\.(parent|cxx20|kernels|fetch_content\.plan)"),
    (r"", NOTHING),
)


def rule_of(path):
    """(tests, targets) of the rule that holds for the path."""
    for pattern, tests, *targets in RULES:
        match = re.match(pattern, path)
        if match:
            name = (match.group(1) or "").lower() if match.groups() else ""
            return tests.replace(r"\1", re.escape(name)), " ".join(targets).split()
    raise AssertionError(path)


class Build:
    """What a configured build folder says of its tests and targets."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        shown = subprocess.run(["ctest", "--test-dir", str(self.folder), "--show-only=json-v1"],
                               check=True, stdout=subprocess.PIPE, text=True).stdout
        known = json.loads(shown)
        self.graph = known["backtraceGraph"]
        self.tests = {test["name"]: test for test in known["tests"]}
        # A command whose program is not there yet is missing from CTest's answer.
        self.commands = {}
        for file in self.folder.rglob("CTestTestfile.cmake"):
            for _, name, command in re.findall(r"^add_test\(\[(=*)\[(.*?)\]\1\] (.*)\)$", file.read_text(), re.M):
                self.commands[name] = re.findall(r'"((?:\\.|[^"\\])*)"', command)
        lines = subprocess.run(["ninja", "-C", str(self.folder), "-t", "targets", "all"],
                               check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        self.outputs = {line.rpartition(": ")[0] for line in lines}

    def property(self, name, key):
        for entry in self.tests[name].get("properties", []):
            if entry["name"] == key:
                return entry["value"]
        return []

    def folder_of(self, name):
        """The folder of tests that declares the test, below the root."""
        folder, node = "", self.tests[name].get("backtrace")
        while node is not None:
            node = self.graph["nodes"][node]
            file = self.graph["files"][node["file"]]
            at = file.rfind("/tests/")
            if at >= 0 and file.endswith("/CMakeLists.txt"):
                here = file[at + 1 : -len("/CMakeLists.txt")]
                folder = max(folder, here, key=len)
            node = node.get("parent")
        return folder

    def targets_of(self, name):
        """The programs, libraries and folders of plug-ins of this build that the test's command and environment name."""
        words = list(self.commands.get(name, []))
        for setting in self.property(name, "ENVIRONMENT"):
            words += setting.partition("=")[2].split(":")
        found = set()
        for word in words:
            if not word.startswith(str(self.folder) + "/"):
                continue
            path = os.path.relpath(word, self.folder)
            if path in self.outputs:
                found.add(path)
            elif path.startswith("tests/"):
                found |= {output for output in self.outputs if output.startswith(path + "/") and output.endswith(".so")}
        return found


class Choice:
    """What the changed files ask for."""

    def __init__(self, build, files):
        self.core_alone = False
        self.tests, self.targets, self.untested = set(), set(), []
        for file in files:
            self.add(build, file)
        if self.core_alone:  # the core's own tests run there
            self.tests -= {name for name in self.tests if re.fullmatch(CORE, name)}
        for name in self.tests:
            self.targets |= build.targets_of(name)
        if self.targets and "tessera_processor_backends" in build.outputs:
            self.targets.add("tessera_processor_backends")
        self.slow = {name for name in self.tests if "slow" in build.property(name, "LABELS")}
        self.left_out = sorted(set(build.tests) - self.tests)

    def add(self, build, file):
        tests, targets = rule_of(file)
        if tests == CORE_ALONE:
            self.core_alone = True
            tests = r"docs\.comments"
        if tests == OWN_TESTS:
            folder = os.path.dirname(file)
            found = set()
            while not found and folder != "tests":
                found = {name for name in build.tests if (build.folder_of(name) + "/").startswith(folder + "/")}
                folder = os.path.dirname(folder)
        else:
            found = {name for name in build.tests if re.fullmatch(tests, name)}
        if not found and not targets:
            self.untested.append(file)
        self.tests |= found
        self.targets |= {target for target in targets if target in build.outputs}


def listed(names):
    """The names as in "unit, docs.* (3)", where `docs.*` stands for several that begin so."""
    families = {}
    for name in sorted(names):
        families.setdefault(name.split(".")[0], []).append(name)
    return ", ".join(members[0] if len(members) == 1 else f"{family}.* ({len(members)})" for family, members in families.items())


def choose(build_folder, folder):
    files = [line for line in sys.stdin.read().splitlines() if line]
    build = Build(build_folder)
    choice = Choice(build, files)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"core": ["yes"] if choice.core_alone else [], "targets": sorted(choice.targets),
                "tests": sorted(choice.tests - choice.slow), "slow": sorted(choice.slow)}
    for name, lines in contents.items():
        (folder / name).write_text("".join(line + "\n" for line in lines))
    print(f"files that changed: {len(files)}")
    if choice.core_alone:
        print("a public header of the core changed: the core alone is built, and its tests run")
    print(f"tests chosen: {listed(choice.tests) or 'none'}")
    if choice.untested:
        print("format and house rules alone look at: " + ", ".join(choice.untested[:12])
              + (f" and {len(choice.untested) - 12} more" if len(choice.untested) > 12 else ""))
    families = sorted({name.split(".")[0] for name in choice.left_out})
    print(f"left out: {len(choice.left_out)} tests, of {', '.join(families)}; and the builds with clang and with sanitizers")


def within(seconds, command, each_line=None, gently=True):
    """The command's status, or OUT_OF_TIME; it ends with this program, in whatever way that ends. A build is ended
    gently, because Ninja removes what it has half written; a test that heard of the end would fail."""
    process = subprocess.Popen(command, start_new_session=True, text=True, errors="replace",
                               stdout=subprocess.PIPE if each_line else None)
    end, over = time.monotonic() + max(seconds, 0), threading.Event()

    def stop(how):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass

    def watch():
        try:
            process.wait(max(end - time.monotonic(), 0))
            return
        except subprocess.TimeoutExpired:
            over.set()
        for how, patience in ((signal.SIGINT, 3), (signal.SIGTERM, 3), (signal.SIGKILL, None))[0 if gently else 2 :]:
            stop(how)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
            break
        stop(signal.SIGKILL)  # what the command has started and left

    def interrupted(*_):
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), interrupted)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        if each_line:
            for line in process.stdout:
                if not over.is_set():
                    each_line(line)
        status = process.wait()
        watcher.join()
    except KeyboardInterrupt:
        stop(signal.SIGKILL)
        return 130
    return OUT_OF_TIME if over.is_set() else status


def run_tests(seconds, build_folder, lists):
    end = time.monotonic() + seconds
    ended, failed, unfinished = set(), set(), []

    def read(line):
        print(line, end="", flush=True)
        match = re.match(r" *\d+/\d+ +Test +#\d+: (\S+) \.*(.*)", line)
        if match:
            ended.add(match[1])
            if not re.search(r"Passed|Skipped|Not Run \(Disabled\)", match[2]):
                failed.add(match[1])

    status = 0
    for file in lists:
        names = pathlib.Path(file).read_text().split()
        if not names:
            continue
        left = end - time.monotonic()
        if left > 1:
            regex = "^(" + "|".join(re.escape(name) for name in names) + ")$"
            rc = within(left, ["ctest", "--test-dir", build_folder, "--output-on-failure", "--no-tests=error",
                               "-j", str(2 * os.cpu_count()), "-R", regex], read, gently=False)
            if rc == 130:
                return rc
            if rc not in (0, OUT_OF_TIME):
                status = 1
        unfinished += [name for name in names if name not in ended]
    if unfinished:
        print(f"the time is over; these tests did not run to their end: {' '.join(sorted(unfinished))}")
    return 1 if failed or status else OUT_OF_TIME if unfinished else 0


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "choose":
        choose(*arguments)
    elif what == "within":
        sys.exit(within(float(arguments[0]), arguments[1:]))
    elif what == "tests":
        sys.exit(run_tests(float(arguments[0]), arguments[1], arguments[2:]))
    else:
        sys.exit(__doc__)
