"""Programs of NumPy, SciPy and scikit-learn: how many numbers of their results change with the number of threads, with
Tessera's backend and with the processor's instructions, without the drop-in and under it.

    python3 programs.py LIBRARY:LIBRARY [--seed N] [--sizes N] [--largest N] [--check] [--no-tbb]
                        [--emulator 'qemu-x86_64 -cpu Haswell']

A process reads threads and instruction sets once, so each setting has a process of its own, which writes its results to
a file. The table's cells are numbers that differ, of all that the program computes, without the drop-in and with it:
from the results with one thread, the OpenMP backend and AVX-512. An emulator adds a column for an emulated processor.
--check runs the programs alone that must not differ, under the drop-in, and fails where one of them does.
"""

import argparse
import glob
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as absent:
    sys.exit(print(f"skipped: {absent}"))

from program_list import programs_of, scipy

# With PyPI's wheels and their own LAPACK, nearly all of the floating-point work of these is the drop-in's.
ALWAYS_EQUAL = {"np.linalg.solve", "np.linalg.inv", "np.linalg.det", "np.linalg.slogdet", "np.linalg.cholesky",
                "np.linalg.qr", "scipy.linalg.inv", "scipy.linalg.lu_factor", "scipy.linalg.cho_factor",
                "scipy.linalg.qr", "scipy.linalg.expm", "scipy.linalg.solve_triangular"}
# NumPy's exp and log have other last bits with AVX-512. A thread of scikit-learn's KMeans adds up its own points.
CHANGE_WITH_INSTRUCTIONS = {"GaussianProcessRegressor, optimizer=None", "GaussianProcessRegressor",
                            "scipy.linalg.logm"}
CHANGE_WITH_THREADS = {"KMeans"}
HAS_AVX512 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
WIDEST = "avx512" if HAS_AVX512 else "avx2"
SETTINGS = {"one": (1, "openmp", WIDEST, ""), "two": (2, "openmp", WIDEST, "1 and 2 threads"),
            "tbb": (2, "tbb", WIDEST, "2 threads of oneTBB"), "avx2": (1, "openmp", "avx2", "AVX2 and AVX-512"),
            "emulated": (1, "openmp", "avx2", "emulated")}


def lapack_calls_its_blas(libraries):
    """Returns the beginnings of the names of packages whose LAPACK calls the drop-in: Debian's, and wheels whose calls go
    to a LAPACK outside of them."""
    found = []
    for package, begin, symbol in ((np, "np.", "scipy_dgesdd_64_"), (scipy, "scipy.", "scipy_dgesdd_")):
        if package is None:
            continue
        if not glob.glob(os.path.dirname(package.__file__) + ".libs/libscipy_openblas*"):
            found.append(begin)
            continue
        command = [sys.executable, "-c", f"import {package.__name__}.linalg as x; x.svd([[1.0]])"]
        log = subprocess.run(["sh", preloaded(), libraries, *command], env={**os.environ, "TESSERA_LOG": "dispatch"},
                             stderr=subprocess.PIPE, text=True, check=True).stderr
        if f"{symbol} goes to" in log:
            found.append(begin)
        else:
            print(f"{package.__name__} keeps its wheel's own LAPACK: " +
                  " ".join(line for line in log.splitlines() if "wheels keep their own" in line))
    return found


def preloaded():
    return pathlib.Path(__file__).resolve().parent / "../../support/preloaded.sh"


def must_be_equal(name, setting, on_drop_in):
    """Must the program have the bits in the setting that it has in "one"? Without a setting: in any?"""
    name = name.removesuffix(", complex")
    if name in CHANGE_WITH_INSTRUCTIONS and setting in ("avx2", "emulated"):
        return False
    if name in CHANGE_WITH_THREADS and setting not in ("avx2", "emulated"):
        return False
    packages = [begin for begin in ("np.", "scipy.") if name.startswith(begin)] or ["np.", "scipy."]  # scikit-learn's
    return name in ALWAYS_EQUAL or all(begin in on_drop_in for begin in packages)


def compute(options):
    """Returns the results of each program, of all sizes and types, one after another; for a check, of the ones to be equal."""
    rng = np.random.default_rng(options.seed)
    results = {}
    for n in rng.integers(options.largest // 4, options.largest, options.sizes):
        for dtype in (np.float64, np.float32, np.complex128, np.complex64):
            for name, program in programs_of(rng, n, dtype):
                if not options.check or must_be_equal(name, None, options.on_drop_in):
                    results.setdefault(name, []).extend(np.asarray(x) for x in program())
    return results


def wide_instructions():
    """Returns NumPy's names for sets of instructions beyond AVX2."""
    core = np._core if hasattr(np, "_core") else np.core
    return [name for name in core._multiarray_umath.__cpu_dispatch__ if name.startswith("AVX512") or name == "X86_V4"]


def run(folder, name, libraries, emulator, arguments):
    """Runs the programs in a process with the setting, and returns their results."""
    threads, backend, instructions, _ = SETTINGS[name.split()[-1]]
    environment = {**os.environ, "TESSERA_CPU_ISA": instructions, "TESSERA_BACKEND": backend,
                   "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore",
                   "OPENBLAS_CORETYPE": "Haswell" if instructions == "avx2" else "SkylakeX"}
    if instructions == "avx2":  # NumPy's own loops, too
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(wide_instructions())
    for variable in ("TESSERA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        environment[variable] = str(threads)
    file = pathlib.Path(folder, name + ".npz")
    subprocess.run(["sh", preloaded(), libraries, *emulator, sys.executable, __file__, libraries, "--write", file,
                    *arguments], env=environment, check=True)
    with np.load(file, allow_pickle=False) as saved:
        results = {}
        for key in sorted(saved.files, key=lambda key: int(key.rsplit("|", 1)[1])):
            results.setdefault(key.split("|")[0], []).append(saved[key])
        return results


def differing(x, y):
    """Returns how many numbers of two lists of arrays have other bits, and how many there are."""
    bits = [(np.ascontiguousarray(p).reshape(-1), np.ascontiguousarray(q).reshape(-1)) for p, q in zip(x, y)]
    assert len(x) == len(y)
    return (sum(int((p.view(np.uint8).reshape(p.size, -1) != q.view(np.uint8).reshape(q.size, -1)).any(axis=1).sum())
                if p.shape == q.shape and p.dtype == q.dtype else p.size for p, q in bits),  # a rank may change
            sum(p.size for p, _ in bits))


def table(got, names, settings, ways, on_drop_in):
    """Prints the cells, and returns the programs that differ under the drop-in and must not."""
    wrong = set()
    print("| program | numbers | " + " | ".join(SETTINGS[setting][3] for setting in settings) + " |")
    print("|---" * (2 + len(settings)) + "|")
    for program in names:
        cells = []
        for setting in settings:
            counts = []
            for way in ways:
                one, other = got[way, "one"], got.get((way, setting))
                counts.append("–" if other is None else differing(one[program], other[program])[0])
            if counts[-1] and must_be_equal(program, setting, on_drop_in):
                wrong.add(program)
            cells.append(" → ".join(map(str, counts)))
        print(f"| `{program}` | {differing(got[ways[-1], 'one'][program], got[ways[-1], 'one'][program])[1]} | " +
              " | ".join(cells) + " |")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, default=3)
    parser.add_argument("--largest", type=int, default=400)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-tbb", action="store_true")
    parser.add_argument("--emulator", default="")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--on-drop-in", type=lambda text: text.split(), default=None)
    options = parser.parse_args()
    if options.write:
        return np.savez(options.write, **{f"{name}|{i}": x for name, arrays in compute(options).items()
                                          for i, x in enumerate(arrays)})
    on_drop_in = lapack_calls_its_blas(options.libraries)
    left_out = {name for name, is_there in (("avx2", HAS_AVX512), ("emulated", options.emulator),
                                            ("tbb", not options.no_tbb)) if not is_there}
    settings = [name for name in SETTINGS if name not in left_out]
    ways = {"after": options.libraries} if options.check else {"before": "", "after": options.libraries}
    arguments = ["--seed", str(options.seed), "--sizes", str(options.sizes),
                 "--largest", str(options.largest), *(["--check"] if options.check else []),
                 "--on-drop-in", " ".join(on_drop_in)]
    with tempfile.TemporaryDirectory() as folder:
        got = {(way, name): run(folder, f"{way} {name}", libraries,
                                shlex.split(options.emulator) if name == "emulated" else [], arguments)
               for way, libraries in ways.items() for name in settings if way == "after" or name != "tbb"}
    names = list(got["after", "one"])
    wrong = table(got, names, settings[1:], list(ways), on_drop_in)
    if not any(program.startswith("PCA") for program in names) and "scipy." in on_drop_in:
        print("scikit-learn is not installed")
    assert {name for name in ALWAYS_EQUAL if scipy or name.startswith("np.")} <= set(names)
    if wrong:
        sys.exit(f"other bits under the drop-in: {sorted(wrong)}")
    print("programs are right")


if __name__ == "__main__":
    main()
