"""python -m tessera compare ARGUMENTS, and python -m tessera info ARGUMENTS."""

import sys

from . import _cublas, _programs

usage = """usage: python -m tessera compare [ARGUMENTS]   race and check kernels: gemm_compare with these arguments
       python -m tessera info [ARGUMENTS]      what this machine has: tessera_info with these arguments
       python -m tessera cublas                the files of cuBLAS that Python's packages have"""

command, arguments = (sys.argv[1] if len(sys.argv) > 1 else "--help"), sys.argv[2:]
if command == "compare":
    _programs.start("gemm_compare", arguments)
elif command == "info":
    _programs.start("tessera_info", arguments)
elif command == "cublas":
    files = _cublas.found()
    if not files:
        _programs.leave(1, "no cuBLAS in Python's packages; pip install nvidia-cublas")
    _programs.answer("\n".join(str(file) for file in files))
elif command in ("help", "--help", "-h"):
    _programs.answer(usage)
else:
    _programs.leave(2, usage)
