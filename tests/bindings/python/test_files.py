"""Products of matrices in files."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tessera as ts

from conftest import integers, present

MIB = 1 << 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a.npy, 300×200, and b.npy, 200×100."""
    np.save(tmp_path / "a.npy", integers(300, 200, seed=1))
    np.save(tmp_path / "b.npy", integers(200, 100, seed=2))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def multiply(**options):
    return ts.multiply_files("a.npy", "b.npy", "c.npy", **({"memory_limit": 16 * MIB} | options))


@pytest.mark.parametrize("kind", [str, Path])
def test_paths(folder, kind):
    report = ts.multiply_files(kind("a.npy"), kind("b.npy"), kind("c.npy"), memory_limit=16 * MIB)
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))
    assert (report.m, report.n, report.k, report.dtype, report.result_dtype) == (300, 100, 200, "float32", "float32")
    assert report.allocated_bytes <= report.planned_bytes <= 16 * MIB
    assert report.bytes_written == 300 * 100 * 4
    assert report.blocks_done_before == 0


def test_the_bits_of_gemm(folder):
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(shape, np.float32) for shape in ((150, 1300), (90, 150), (1300, 90)))
    np.save("a.npy", a)
    np.save("b.npy", np.asfortranarray(b))
    np.save("c.npy", c)
    multiply(c="c.npy", transpose_a=True, transpose_b=True, alpha=0.5, beta=2, memory_limit=6 * MIB)
    assert np.array_equal(np.load("c.npy"), ts.gemm(a.T, b.T, c=c, alpha=0.5, beta=2))


def test_another_type_of_the_result(folder):
    report = multiply(dtype=np.float16)
    assert report.result_dtype == "float16" and np.load("c.npy").dtype == np.float16
    with pytest.raises(TypeError, match="dtype must be float32, float64, float16 or bfloat16, not int8"):
        multiply(dtype="int8", start_over=True)


@pytest.mark.parametrize("backend", present())
def test_backends(folder, backend):
    multiply(backend=backend, threads=2)
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))


def test_several_backends_share_the_blocks(folder):
    names = [b.name for b in ts.backends() if b.available and b.memory == "host"]
    multiply(backend=names)
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))


def test_progress_is_told_in_the_calling_thread(folder):
    told = []
    report = multiply(progress=lambda now: told.append((now, threading.get_ident())))
    last, _ = told[-1]
    assert last.blocks_done == last.blocks == report.blocks
    assert last.operations_done == last.operations == 2 * 300 * 200 * 100
    assert last.bytes_written == report.bytes_written
    assert {thread for _, thread in told} == {threading.get_ident()}


# The product takes seconds if it is not stopped, and it is cut into many blocks.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import tessera as ts

rng = np.random.default_rng(1)
np.save("a.npy", rng.standard_normal((1500, 4000), np.float32))
np.save("b.npy", rng.standard_normal((4000, 1500), np.float32))
first_block = threading.Event()

def progress(now):
    if now.blocks_done: first_block.set()

def interrupt():  # Python runs in this thread while the main thread multiplies
    first_block.wait()
    os.kill(os.getpid(), signal.SIGINT)

def multiply():
    return ts.multiply_files("a.npy", "b.npy", "c.npy", memory_limit=8 << 20, backend="reference", threads=1, progress=progress)

threading.Thread(target=interrupt, daemon=True).start()
try:
    multiply()
except KeyboardInterrupt:
    assert not os.path.exists("c.npy") and os.path.exists(".c.npy.tessera-journal"), os.listdir()
else:
    sys.exit("the product ended without KeyboardInterrupt")
"""


def test_ctrl_c_stops_the_product(tmp_path):
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    a, b, c = (str(tmp_path / name) for name in ("a.npy", "b.npy", "c.npy"))
    report = ts.multiply_files(a, b, c, memory_limit=64 * MIB)  # goes on, on another backend
    assert 0 < report.blocks_done_before < report.blocks
    assert np.array_equal(np.load(c), ts.gemm(np.load(a), np.load(b)))


def test_an_exception_of_progress_stops_the_product(folder):
    def progress(now):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        multiply(progress=progress)
    multiply()
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))


def test_signals_are_for_the_main_thread(folder):
    reports = []
    thread = threading.Thread(target=lambda: reports.append(multiply()))
    thread.start()
    thread.join()
    assert reports[0].m == 300


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({"memory_limit": 0}, ts.InvalidArgument, "memory_limit = 0"),
        ({"memory_limit": -5}, ts.InvalidArgument, "memory_limit = -5"),
        ({"memory_limit": 1000}, ts.OutOfMemory, "memory_limit"),
        ({"memory_limit": "4GiB"}, TypeError, "memory_limit must be an int, in bytes, not str"),
        ({"alpha": 0.1}, ts.InvalidArgument, "alpha = 0.1 is not exact in f32"),
        ({"alpha": "2"}, TypeError, "alpha must be a real number, not str"),
        ({"beta": 1}, ts.InvalidArgument, "beta = 1 needs a file of C"),
        ({"c": 5, "beta": 1}, TypeError, "c must be a path, a str or os.PathLike, not int"),
        ({"transpose_a": 1}, TypeError, "transpose_a must be True or False, not int"),
        ({"math": "fast"}, ts.InvalidArgument, "fast"),
        ({"kernel": "no_such"}, ts.Error, "no_such"),
        ({"backend": "no_such"}, ts.InvalidArgument, "unknown backend .no_such."),
        ({"backend": ["auto", "openmp"]}, ts.InvalidArgument, "'auto' in a list"),
        ({"devices": [0]}, ts.InvalidArgument, "'auto' in a list or with devices"),
        ({"backend": "cuda", "devices": [-1]}, ts.InvalidArgument, r"devices = \[-1\]"),
        ({"backend": "cuda", "devices": "x"}, TypeError, "devices must be whole numbers"),
        ({"threads": 0}, ts.InvalidArgument, "threads = 0"),
        ({"start_over": None}, TypeError, "start_over must be True or False"),
    ],
)
def test_arguments_that_are_wrong(folder, options, kind, message):
    with pytest.raises(kind, match=message):
        multiply(**options)
    assert sorted(os.listdir()) == ["a.npy", "b.npy"]


def test_errors_name_the_file(folder):
    with pytest.raises(ts.IoError, match="gone.npy"):
        ts.multiply_files("gone.npy", "b.npy", "c.npy", memory_limit=16 * MIB)
    with pytest.raises(OSError, match=r"g\\xff.npy"):
        ts.multiply_files(os.fsdecode(b"g\xff.npy"), "b.npy", "c.npy", memory_limit=16 * MIB)
    with pytest.raises(ts.InvalidArgument, match="holds a null character"):
        ts.multiply_files("a.npy\0", "b.npy", "c.npy", memory_limit=16 * MIB)
    with pytest.raises(ts.InvalidArgument, match="out = a.npy is the file of a"):
        ts.multiply_files("a.npy", "b.npy", "a.npy", memory_limit=16 * MIB)


def test_memory_maps_are_operands_and_results(folder, no_copy):
    a, b = np.load("a.npy", mmap_mode="r"), np.load("b.npy", mmap_mode="r")
    out = np.lib.format.open_memmap("c.npy", mode="w+", dtype=np.float32, shape=(300, 100))
    assert ts.gemm(a, b, out=out) is out
    out.flush()
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))
    with pytest.raises(ts.InvalidArgument, match="out is read-only"):
        ts.gemm(a, b, out=np.load("c.npy", mmap_mode="r"))
