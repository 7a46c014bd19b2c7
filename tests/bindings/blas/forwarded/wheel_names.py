"""Every routine that the wheels of NumPy and SciPy import from their OpenBLAS is exported by the drop-in.

    python3 wheel_names.py libtessera_blas.so libtessera_blas64.so
"""

import ctypes
import importlib.util
import pathlib
import shutil
import subprocess
import sys

# What no product or sum is in: letters are compared, |re| + |im| is taken, and xerbla_ is told of an error.
LEFT = {"scipy_lsame_", "scipy_dcabs1_", "scipy_xerbla_array_"}


def imports_of(package):
    """Returns the names that the package's modules import from an OpenBLAS."""
    found = importlib.util.find_spec(package)
    if found is None:
        sys.exit(print(f"skipped: {package} is not installed"))
    folder = pathlib.Path(found.origin).parent
    if not list(folder.parent.glob(f"{package}.libs/libscipy_openblas*")):
        sys.exit(print(f"skipped: this {package} is not PyPI's wheel: it brings no OpenBLAS"))
    modules = [str(path) for path in folder.rglob("*.so")]
    said = subprocess.run(["nm", "-D", "--undefined-only", *modules], check=True, stdout=subprocess.PIPE, text=True)
    names = {line.split()[-1].split("@")[0] for line in said.stdout.splitlines() if line.startswith(" ")}
    return {name for name in names if name.startswith("scipy_")}


def main():
    if shutil.which("nm") is None:
        sys.exit(print("skipped: nm is not installed (Debian package binutils)"))
    libraries = [ctypes.CDLL(path) for path in sys.argv[1:3]]
    assert len(libraries) == 2
    for package, least in (("numpy", 40), ("scipy", 1500)):
        names = imports_of(package)
        assert len(names) >= least, f"{package} imports {len(names)} names"
        missing = sorted(name for name in names - LEFT if not any(hasattr(library, name) for library in libraries))
        print(f"{package} imports {len(names)} names, and the drop-in lacks {len(missing)}: {missing}")
        if missing:
            sys.exit(f"add them to src/bindings/blas/forwarded/routines.hpp: {missing}")
    print("the names are right")


if __name__ == "__main__":
    main()
