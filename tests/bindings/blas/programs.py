"""Programs of NumPy, SciPy and scikit-learn from PyPI: how many numbers of their results change with the number of
threads and with the processor's instructions, without the drop-in and under it.

    python3 programs.py LIBRARY:LIBRARY [--seed N] [--check]

A process reads threads and instruction sets once, so each setting has a process of its own, which writes its results to
a file. The table's cells are numbers that differ, of all that the program computes: between one thread and two, and
between AVX2 and AVX-512. --check runs ALWAYS_EQUAL alone, under the drop-in, and fails where one of them differs.
"""

import argparse
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as absent:
    sys.exit(print(f"skipped: {absent}"))
try:
    import scipy
except ImportError:
    scipy = None

SIZES = 3
# With the wheels of PyPI, nearly all of the floating-point work of these is the drop-in's. With Debian's NumPy and SciPy,
# whose LAPACK is a library of its own that calls the drop-in, so is the work of all of their programs.
ALWAYS_EQUAL = {"np.linalg.solve", "np.linalg.inv", "np.linalg.det", "np.linalg.slogdet", "np.linalg.cholesky",
                "np.linalg.qr", "scipy.linalg.inv", "scipy.linalg.lu_factor", "scipy.linalg.cho_factor",
                "scipy.linalg.qr", "scipy.linalg.expm", "scipy.linalg.solve_triangular"}
SETTINGS = {"one": (1, "avx512"), "two": (2, "avx512"), "avx2": (1, "avx2")}


def numpy_programs(a, b, tall, symmetric, positive):
    linalg = np.linalg
    yield "np.linalg.solve", lambda: [linalg.solve(a, b)]
    yield "np.linalg.inv", lambda: [linalg.inv(a)]
    yield "np.linalg.det", lambda: [linalg.det(a / 10)]  # of several hundred rows, and no overflow
    yield "np.linalg.slogdet", lambda: linalg.slogdet(a)
    yield "np.linalg.cholesky", lambda: [linalg.cholesky(positive)]
    yield "np.linalg.qr", lambda: linalg.qr(tall)
    yield "np.linalg.svd", lambda: linalg.svd(tall, full_matrices=False)
    yield "np.linalg.eigh", lambda: linalg.eigh(symmetric)
    yield "np.linalg.eigvalsh", lambda: [linalg.eigvalsh(symmetric)]
    yield "np.linalg.lstsq", lambda: linalg.lstsq(tall, b, rcond=None)[:2]
    yield "np.linalg.pinv", lambda: [linalg.pinv(tall)]
    yield "np.linalg.matrix_rank", lambda: [linalg.matrix_rank(tall)]
    yield "np.linalg.cond", lambda: [linalg.cond(a), linalg.cond(a, 1)]


def scipy_programs(a, b, tall, symmetric, positive):
    from scipy import linalg
    yield "scipy.linalg.inv", lambda: [linalg.inv(a)]
    yield "scipy.linalg.lu_factor", lambda: linalg.lu_factor(a)
    yield "scipy.linalg.cho_factor", lambda: [linalg.cho_factor(positive)[0]]
    yield "scipy.linalg.qr", lambda: linalg.qr(tall)
    yield "scipy.linalg.svd", lambda: linalg.svd(tall)
    yield "scipy.linalg.eigh", lambda: linalg.eigh(symmetric)
    yield "scipy.linalg.expm", lambda: [linalg.expm(a / 10)]
    yield "scipy.linalg.sqrtm", lambda: [linalg.sqrtm(positive)]
    yield "scipy.linalg.solve_triangular", lambda: [linalg.solve_triangular(positive, b, lower=True)]
    yield "scipy.linalg.lstsq", lambda: linalg.lstsq(tall, b)[:1]
    yield "scipy.linalg.schur", lambda: linalg.schur(a)


def scikit_learn_programs(b, tall):
    from sklearn import cluster, decomposition, gaussian_process, linear_model
    y = b[:, 0]

    def pca(solver):
        model = decomposition.PCA(5, svd_solver=solver).fit(tall)
        return model.components_, model.explained_variance_, model.transform(tall)

    def linear(model):
        model.fit(tall, y)
        return model.coef_, model.predict(tall)

    def gaussian(optimizer):
        kernel = gaussian_process.kernels.RBF(3.0) + gaussian_process.kernels.WhiteKernel(0.5)
        model = gaussian_process.GaussianProcessRegressor(kernel, optimizer=optimizer).fit(tall[:80, :5], y[:80])
        return (*model.predict(tall[80:100, :5], return_std=True), model.kernel_.theta)

    def k_means():
        model = cluster.KMeans(5, n_init=2, random_state=0).fit(tall)
        return model.cluster_centers_, model.labels_, model.inertia_

    yield "PCA, svd_solver='full'", lambda: pca("full")
    if "covariance_eigh" in str(decomposition.PCA._parameter_constraints):  # from 1.5 on
        yield "PCA, svd_solver='covariance_eigh'", lambda: pca("covariance_eigh")
    yield "LinearRegression", lambda: linear(linear_model.LinearRegression())
    yield "Ridge", lambda: linear(linear_model.Ridge(0.3))
    yield "GaussianProcessRegressor, optimizer=None", lambda: gaussian(None)
    yield "GaussianProcessRegressor", lambda: gaussian("fmin_l_bfgs_b")
    yield "KMeans", k_means


def has_own_blas(package):
    """Does the package bring an OpenBLAS, as PyPI's wheels do?"""
    return bool(glob.glob(os.path.dirname(package.__file__) + ".libs/libscipy_openblas*"))


def must_be_equal(name):
    return name in ALWAYS_EQUAL or any(package and name.startswith(prefix) and not has_own_blas(package)
                                       for prefix, package in (("np.", np), ("scipy.", scipy)))


def compute(seed, check):
    """Returns the results of each program, of all sizes and types, one after another; for a check, of the ones to be equal."""
    rng = np.random.default_rng(seed)
    results = {}
    for n in rng.integers(100, 400, SIZES):
        for dtype in (np.float64, np.float32):
            a = rng.standard_normal((n, n)).astype(dtype)
            b = rng.standard_normal((n, 3)).astype(dtype)
            tall = rng.standard_normal((n, n // 3)).astype(dtype)
            positive = a @ a.T + dtype(n) * np.eye(n, dtype=dtype)
            a, b, tall = (np.rint(x * 4096) / 4096 for x in (a, b, tall))
            positive = np.rint(positive)  # no bit of the inputs depends on a product
            symmetric = a + a.T
            arguments = (a, b, tall, symmetric, positive)
            programs = [*numpy_programs(*arguments), *(scipy_programs(*arguments) if scipy else ())]
            try:
                programs += scikit_learn_programs(b, tall) if not check else ()
            except ImportError:
                pass  # the table says so
            for name, program in programs:
                if not check or must_be_equal(name):
                    results.setdefault(name, []).extend(np.asarray(x) for x in program())
    return results


def wide_instructions():
    """Returns NumPy's names for sets of instructions beyond AVX2."""
    core = np._core if hasattr(np, "_core") else np.core
    return [name for name in core._multiarray_umath.__cpu_dispatch__ if name.startswith("AVX512") or name == "X86_V4"]


def run(folder, name, libraries, arguments):
    """Runs the programs in a process with the setting, and returns their results."""
    threads, instructions = SETTINGS[name.split()[-1]]
    environment = {**os.environ, "TESSERA_CPU_ISA": instructions, "PYTHONDONTWRITEBYTECODE": "1",
                   "OPENBLAS_CORETYPE": "Haswell" if instructions == "avx2" else "SkylakeX"}
    if instructions == "avx2":  # NumPy's own loops, too
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(wide_instructions())
    for variable in ("TESSERA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        environment[variable] = str(threads)
    file = pathlib.Path(folder, name + ".npz")
    start = pathlib.Path(__file__).resolve().parent / "../../support/preloaded.sh"
    subprocess.run(["sh", start, libraries, sys.executable, __file__, libraries, "--write", file, *arguments],
                   env=environment, check=True)
    with np.load(file, allow_pickle=False) as saved:
        results = {}
        for key in sorted(saved.files, key=lambda key: int(key.rsplit("|", 1)[1])):
            results.setdefault(key.split("|")[0], []).append(saved[key])
        return results


def differing(x, y):
    """Returns how many numbers of two lists of arrays have other bits, and how many there are."""
    bits = [(np.ascontiguousarray(p).reshape(-1), np.ascontiguousarray(q).reshape(-1)) for p, q in zip(x, y)]
    assert len(x) == len(y) and all(p.shape == q.shape and p.dtype == q.dtype for p, q in zip(x, y))
    rows = [(p.view(np.uint8).reshape(p.size, -1) != q.view(np.uint8).reshape(q.size, -1)).any(axis=1) for p, q in bits]
    return sum(int(row.sum()) for row in rows), sum(row.size for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    if options.write:
        results = compute(options.seed, options.check)
        return np.savez(options.write, **{f"{name}|{i}": x for name, arrays in results.items()
                                          for i, x in enumerate(arrays)})
    has_avx512 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    settings = [name for name in SETTINGS if has_avx512 or name != "avx2"]
    ways = {"after": options.libraries} if options.check else {"before": "", "after": options.libraries}
    arguments = ["--seed", str(options.seed), *(["--check"] if options.check else [])]
    with tempfile.TemporaryDirectory() as folder:
        got = {(way, name): run(folder, f"{way} {name}", libraries, arguments)
               for way, libraries in ways.items() for name in settings}
    wrong = []
    columns = [(way, name) for name in settings[1:] for way in ways]
    print("program | numbers | " + " | ".join(
        f"{'1 and 2 threads' if name == 'two' else 'AVX2 and AVX-512'}, {way}" for way, name in columns))
    for program in got["after", "one"]:
        cells = [differing(got[way, "one"][program], got[way, name][program]) for way, name in columns]
        print(f"{program} | {cells[0][1]} | " + " | ".join(str(cell[0]) for cell in cells))
        wrong += [program for (way, _), cell in zip(columns, cells)
                  if way == "after" and cell[0] > 0 and must_be_equal(program)]
    if not options.check and not any(program.startswith("PCA") for program in got["after", "one"]):
        print("scikit-learn is not installed")
    assert {name for name in ALWAYS_EQUAL if scipy or name.startswith("np.")} <= set(got["after", "one"])
    if wrong:
        sys.exit(f"other bits under the drop-in: {sorted(set(wrong))}")
    print("programs are right")


if __name__ == "__main__":
    main()
