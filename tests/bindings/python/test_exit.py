"""Daemon threads that are in the library when the interpreter ends: the process ends as if they were not there."""

import subprocess
import sys

import pytest

program = """
import os, sys, tempfile, threading, time
import numpy as np
import tessera as ts

a = np.ones((400, 400), np.float32)
out = np.empty_like(a)
r = a @ a
z = a.astype(np.complex64)
folder = tempfile.mkdtemp()
np.save(os.path.join(folder, "a.npy"), a)

def multiply_files(progress=None):
    out = os.path.join(folder, str(threading.get_ident()) + ".npy")
    path = os.path.join(folder, "a.npy")
    ts.multiply_files(path, path, out, memory_limit=16 << 20, start_over=True, progress=progress)

def spin():
    for _ in range(3000): pass

class Slow:
    "Exports by DLPack, in code of Python that takes a while, and asks it of its numbers too."
    def __init__(self, array): self.array, self.shape, self.dtype = array, array.shape, array.dtype
    def __dlpack_device__(self): spin(); return 1, 0
    def __dlpack__(self, **options): spin(); return self.array.__dlpack__(**options)
    def __index__(self): spin(); return 1
    def __float__(self): spin(); return 1.0
    def __del__(self): spin()

class Row(list):
    def __getitem__(self, i): spin(); return list.__getitem__(self, i)

def wrong():
    try: ts.gemm(a, a, kernel="no such kernel")
    except ts.Error: pass

small = np.ones((4, 4), np.float32)
work = {
    "gemm": lambda: ts.gemm(a, a),
    "out": lambda: ts.gemm(a, a, out=out, beta=1),
    "complex": lambda: ts.gemm(z, z, conj_a=True),
    "columns": lambda: ts.gemm(z, z, out=np.asfortranarray(z)),
    "copies": lambda: ts.gemm(a[:, ::2], a[::2].copy()),
    "batch": lambda: ts.gemm_batch([a], [a], out=[out]),
    "check": lambda: ts.check(a, a, r),
    "compare": lambda: ts.compare(a, a, backend="reference", kernels="gold", math="strict", repeat=1),
    "files": multiply_files,
    "progress": lambda: multiply_files(lambda now: spin()),
    "dlpack": lambda: ts.gemm(Slow(small), Slow(small), alpha=Slow(small), threads=Slow(small)),
    "sequence": lambda: ts.gemm_batch(Row([small] * 3), small),
    "check dlpack": lambda: ts.check(Slow(small), small, 4 * small, seed=Slow(small), alpha=Slow(small)),
    "error": wrong,
}[sys.argv[1]]
errors = []

def loop():
    while True: work()

def checked():
    try: loop()
    except BaseException as error: errors.append(error)

for _ in range(2): threading.Thread(target=checked, daemon=True).start()
time.sleep(float(sys.argv[2]))
assert not errors, errors
print("main ends", flush=True)
"""

entries = [
    "gemm", "out", "complex", "columns", "copies", "batch", "check", "compare", "files", "progress", "dlpack",
    "sequence", "check dlpack", "error",
]  # fmt: skip


@pytest.mark.parametrize("entry", entries)
def test_daemon_threads(entry):
    for wait in ("0.1", "0.17"):
        ended = subprocess.run([sys.executable, "-c", program, entry, wait], capture_output=True, text=True, timeout=60)
        assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "main ends\n")


def test_threads_that_come_to_their_end_are_waited_for():
    text = program.replace("daemon=True", "daemon=False").replace("while True:", "for _ in range(3):")
    ended = subprocess.run([sys.executable, "-c", text, "gemm", "0.1"], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "main ends\n")
