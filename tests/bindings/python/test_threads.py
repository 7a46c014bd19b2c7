"""Other Python threads run during a product, and its operands stay alive."""

import sys
import threading
import time

import numpy as np

import tessera as ts
from conftest import integers


def test_the_gil_is_released():
    slow = np.ones((300, 300))  # 'gold' takes about 100 ms
    done = threading.Event()

    def multiply():
        ts.gemm(slow, slow, backend="reference", kernel="gold")
        done.set()

    thread = threading.Thread(target=multiply)
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 5


def test_arrays_live_as_long_as_they_are_used():
    expected = np.full((200, 200), 200.0)
    results = []

    def multiply():  # only gemm holds the operands
        results.append(ts.gemm(np.ones((200, 200)), np.ones((200, 200)), backend="reference", kernel="gold"))

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(c, expected) for c in results)


def test_no_references_are_kept():
    a, b, out = integers(4, 4), integers(4, 4), integers(4, 4)
    before = [sys.getrefcount(x) for x in (a, b, out)]
    for _ in range(100):
        ts.gemm(a, b, out=out, beta=1)
        ts.gemm(a, b, c=out, beta=1)
        try:
            ts.gemm(a, b, out=out[:2])
        except ts.InvalidArgument:
            pass
    assert [sys.getrefcount(x) for x in (a, b, out)] == before


def test_many_threads_at_once():
    a, b = integers(40, 50), integers(50, 60)
    wrong = []

    def multiply():
        for _ in range(50):
            if not np.array_equal(ts.gemm(a, b, threads=2), a @ b):
                wrong.append(1)

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
