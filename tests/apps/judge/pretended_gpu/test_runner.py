"""Tests how kernel_runner.py runs a kernel on a GPU: with a driver that pretends to be one, in host memory, and with
NumPy's arrays in place of tensors. This program plays gemm_compare.

    python test_runner.py KERNEL_RUNNER FOLDER_OF_DRIVER
"""

import os
import socket
import struct
import subprocess
import sys
import tempfile

import numpy as np

COMMAND, REPLY = struct.Struct("=Iiii4Q"), struct.Struct("=IiiiiiI4xqQd480s")
PING, LOAD, PLACE, CALL, COLLECT, WATCH = range(6)
READY, DONE, DEVICE_FAULT = 0, 1, 8
NOTHING, OUT_OF_BOUNDS, INPUT_CHANGED, LATE = range(4)
M, N, K, ARENA_BYTES, MAGIC = 45, 37, 50, 1 << 20, 77

# What stands for PyTorch: arrays over the memory that the runner names.
TORCH = """
import ctypes, sys, threading, time, types
import numpy as np
torch = types.ModuleType("torch")
def as_tensor(operand, device):
    shown = operand.__cuda_array_interface__
    element = np.dtype(shown["typestr"])
    count = shown["shape"][0] * shown["shape"][1]
    there = (ctypes.c_char * (count * element.itemsize)).from_address(shown["data"][0])
    return np.frombuffer(there, element).reshape(shown["shape"])
torch.as_tensor = as_tensor
sys.modules["torch"] = torch
"""

KERNELS = {
    "honest": "def solve(a, b, c):\n    c[...] = a @ b\n",
    "returns": "def solve(a, b, c):\n    return a @ b\n",
    "writes_b": "def solve(a, b, c):\n    c[...] = a @ b\n    b[1, 0] += 1\n",
    "writes_behind": """
def solve(a, b, c):
    c[...] = a @ b
    ctypes.c_char.from_address(c.ctypes.data + c.nbytes).value = b"x"
""",
    "writes_in_front": """
def solve(a, b, c):
    c[...] = a @ b
    ctypes.c_char.from_address(a.ctypes.data - 12).value = b"x"
""",
    "writes_late": """
def later(c):
    time.sleep(0.05)
    c[0, 0] += 1
def solve(a, b, c):
    c[...] = a @ b
    threading.Thread(target=later, args=(c,)).start()
""",
}


class Runner:
    def __init__(self, kernel, **environment):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel = ours
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(TORCH + KERNELS[kernel])
        self.file = file.name
        words = [self.file, "cuda", "float32", M, N, K, K, N, N, ARENA_BYTES, 0, MAGIC, 0.3, 0.1]
        program = "import os; os.dup2({0}, 3, inheritable=True)\n".format(theirs.fileno()) + open(sys.argv[1]).read()
        self.child = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, words)],
            pass_fds=[theirs.fileno()],
            env=dict(os.environ, LD_LIBRARY_PATH=sys.argv[2], **environment),
        )
        theirs.close()
        ready = self.answer()
        assert ready["kind"] == READY, ready
        self.arena = ready["arena"]
        self.memory = open(f"/proc/{self.child.pid}/mem", "r+b", buffering=0)
        assert self.ask(LOAD, 0)["kind"] == READY

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.memory.close()
        self.channel.close()
        self.child.wait(timeout=60)
        os.unlink(self.file)

    def answer(self):
        fields = ("magic", "kind", "call", "answers", "finding", "operand", "layers", "offset", "arena", "seconds", "text")
        reply = dict(zip(fields, REPLY.unpack(self.channel.recv(REPLY.size))))
        reply["text"] = reply["text"].rstrip(b"\0").decode()
        assert reply["magic"] == MAGIC
        return reply

    def ask(self, kind, number, *addresses):
        self.channel.send(COMMAND.pack(MAGIC, kind, number, 0, 0, *(addresses or (0, 0, 0))))
        reply = self.answer()
        assert reply["answers"] == kind
        return reply

    def product(self, number):
        """Makes one call. Returns the replies to it and to its end, and whether C is right."""
        random = np.random.default_rng(number)
        a, b = (random.integers(-9, 10, shape).astype(np.float32) for shape in ((M, K), (K, N)))
        places = [self.arena + 4096 * (number + 1) + 65536 * operand for operand in range(3)]
        for place, data in zip(places, (a.tobytes(), b.tobytes(), b"\xcd" * (4 * M * N))):
            self.memory.seek(place)
            self.memory.write(data)
        assert self.ask(PLACE, number, *places)["kind"] == DONE
        call, collected = self.ask(CALL, number, *places), self.ask(COLLECT, number, *places)
        self.memory.seek(places[2])
        c = np.frombuffer(self.memory.read(4 * M * N), np.float32).reshape(M, N)
        return call, collected, np.array_equal(c, a @ b)


def expect(kernel, finding, operand=2, offset=0):
    with Runner(kernel) as runner:
        for number in range(3):
            call, collected, right = runner.product(number)
            assert call["kind"] == DONE and call["seconds"] > 0 and right, (kernel, call)
            found = collected["finding"], collected["operand"], collected["offset"]
            assert collected["kind"] == DONE and found == (finding, operand, offset), (kernel, collected)


for kernel in ("honest", "returns"):
    expect(kernel, NOTHING)
expect("writes_behind", OUT_OF_BOUNDS, 2, 4 * M * N)
expect("writes_in_front", OUT_OF_BOUNDS, 0, -12)
with Runner("writes_b") as runner:
    collected = runner.product(0)[1]
    assert (collected["finding"], collected["operand"]) == (INPUT_CHANGED, 1), collected
    assert collected["offset"] // 4 == N, collected
with Runner("writes_late") as runner:
    call, collected, right = runner.product(0)
    assert right and collected["finding"] == LATE and collected["offset"] < 4, collected
with Runner("honest", PRETENDED_FAULT="1") as runner:
    reply = runner.ask(PLACE, 0, *(runner.arena + 65536 * operand for operand in range(3)))
    assert reply["kind"] == DEVICE_FAULT, reply
    assert reply["text"] == "CUDA error 700 (an illegal memory access was encountered)", reply
print("a pretended GPU: all as it must be")
