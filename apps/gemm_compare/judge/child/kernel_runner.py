"""Runs a kernel that is a Python file with `def solve(a, b, c)` for gemm_judge, whose process this interpreter replaced.

The messages are those of channel.hpp. gemm_compare writes the operands into this process's memory and reads C from it.
solve() gets NumPy arrays over that memory, or tensors where the file imports PyTorch; on a card the tensors are copies
there. It writes the product into c, or returns it.
"""

import importlib.util
import mmap
import os
import socket
import struct
import sys
import time
import traceback

COMMAND = struct.Struct("=Iiii4Q")
REPLY = struct.Struct("=IiiiiIqQd480s")
PING, LOAD, PLACE, CALL, COLLECT, WATCH = range(6)
READY, DONE, CANNOT_LOAD, MISSING_SYMBOL, UNAVAILABLE, REJECTED, FAILED, THREW, DEVICE_FAULT, OUT_OF_MEMORY = range(10)

path, device, dtype, m, n, k, lda, ldb, ldc, arena_bytes, layers, magic = sys.argv[1:13]
m, n, k, lda, ldb, ldc, arena_bytes, layers, magic = map(int, (m, n, k, lda, ldb, ldc, arena_bytes, layers, magic))
channel = socket.socket(fileno=3)


def reply(kind, call=-1, seconds=0.0, text="", arena=0, layer_bits=0):
    data = str(text).encode("utf-8", "replace")[:479]
    channel.send(REPLY.pack(magic, kind, call, 0, 2, layer_bits, 0, arena, seconds, data))


try:
    import numpy
except ImportError as error:
    reply(UNAVAILABLE, text=f"{sys.executable} has no NumPy ({error}); install it, or name another Python in $PYTHON")
    os._exit(0)

memory = mmap.mmap(-1, arena_bytes)
bytes_of_memory = numpy.frombuffer(memory, dtype=numpy.uint8)
arena = bytes_of_memory.ctypes.data
torch = None


def view(address, rows, columns, ld):
    """The operand at an address of this process, as an array over the arena."""
    elements = bytes_of_memory[address - arena :][: rows * ld * numpy.dtype(dtype).itemsize].view(dtype)
    return elements.reshape(rows, ld)[:, :columns]


def load():
    """Returns solve(), or None after a reply that says why not."""
    global torch
    try:
        sys.path.insert(0, os.path.dirname(path))
        specification = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    except BaseException as error:  # a module may raise anything
        traceback.print_exc()
        reply(CANNOT_LOAD, text=f"{type(error).__name__}: {error}")
        return None
    torch = sys.modules.get("torch")
    if device == "cuda" and torch is None:
        reply(REJECTED, text="a Python kernel for a card gets tensors: import torch in it")
        return None
    solve = getattr(module, "solve", None)
    if not callable(solve):
        reply(MISSING_SYMBOL, text="it does not define solve(a, b, c)")
        return None
    reply(READY)
    return solve


def operands(a, b, c):
    arrays = view(a, m, k, lda), view(b, k, n, ldb), view(c, m, n, ldc)
    if torch is None:
        return arrays
    tensors = tuple(map(torch.from_numpy, arrays))
    return tuple(tensor.cuda() for tensor in tensors) if device == "cuda" else tensors


def call(number, solve, placed):
    a, b, c = placed
    start = time.perf_counter()
    try:
        result = solve(a, b, c)
        if result is not None and result is not c:
            c[...] = result
        if device == "cuda":
            torch.cuda.synchronize()
    except MemoryError as error:
        return reply(OUT_OF_MEMORY, number, text=error or "MemoryError")
    except BaseException as error:  # a kernel may raise anything, also SystemExit
        return reply(THREW, number, text=f"{type(error).__name__}: {error}")
    return reply(DONE, number, time.perf_counter() - start)


reply(READY, arena=arena, layer_bits=layers)
solve, placed = None, None
packet = bytearray(COMMAND.size)
while channel.recv_into(packet) == COMMAND.size:
    _, kind, number, _, _, a, b, c = COMMAND.unpack(packet)
    if kind == LOAD:
        solve = load()
    elif kind == CALL:
        call(number, solve, placed if device == "cuda" else operands(a, b, c))
    else:
        if kind == PLACE:
            placed = operands(a, b, c)
        elif kind == COLLECT and device == "cuda":
            view(c, m, n, ldc)[...] = placed[2].cpu().numpy()
        reply(DONE, number)
os._exit(0)
