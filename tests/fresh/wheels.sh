#!/bin/sh
# Installs Python's wheels into fresh environments and uses them, with a PATH that has no compiler: the same bits on every
# backend, the programs, an emulated processor without AVX2 (Debian package qemu-user), a second libtessera in the
# process, and an older C library, for which pip must refuse the wheel.
# It needs PyPI for NumPy. It exits with 77 where no interpreter can make an environment.
# Usage: wheels.sh [FOLDER-OF-PACKAGES [SECOND-LIBTESSERA]]; without a folder it builds the packages without CUDA code.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
packages=${1:-}
second=${2:-$root/build/checks/lib/libtessera.so.0}
if [ -z "$packages" ]; then
  packages=$root/build/fresh-wheels
  rm -rf "$packages"
  TESSERA_CUDA_ARCHITECTURES=none "$root/tessera" wheel "$packages"
fi
packages=$(cd "$packages" && pwd)
second=$(realpath -m "$second")
work=$(mktemp -d "${TMPDIR:-/tmp}/tessera-wheels.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

fail() { echo "FAILED: $*"; exit 1; }

cat >"$work/product.py" <<'END'
import sys
import numpy as np
import tessera as ts

a = np.random.default_rng(1).standard_normal((150, 130)).astype(np.float32)
want = ts.gemm(a, a.T, backend="reference")
usable = [backend.name for backend in ts.backends() if backend.available]
assert {"reference", "openmp", "tbb"} <= set(usable), [str(backend) for backend in ts.backends()]
for backend in usable:
    assert np.array_equal(ts.gemm(a, a.T, backend=backend), want), backend
assert np.allclose(want, a @ a.T, atol=1e-3)
z = a.astype(np.complex64)
assert np.allclose(ts.gemm(z, z.T, alpha=np.complex64(2j), conj_a=True), 2j * (z.conj() @ z.T), atol=1e-3)
print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}: {', '.join(usable)} give the same bits")
END
cat >"$work/second.py" <<'END'
import ctypes
import sys
import numpy as np
import tessera as ts

a = np.ones((70, 80))
ts.gemm(a, a.T, backend="openmp")
second = ctypes.CDLL(sys.argv[1])
second.tessera_last_error.restype = ctypes.c_char_p
backend = ctypes.c_int()
assert second.tessera_find_backend(b"openmp", ctypes.byref(backend)) == 0
assert second.tessera_backend_available(backend) == 0, second.tessera_last_error()
ts.gemm(a, a.T, backend="tbb")
files = {line.split()[-1] for line in open("/proc/self/maps") if "libtessera" in line}
assert sum(file.endswith("libtessera_openmp.so") for file in files) == 2, files
print("a second libtessera in the process works beside the wheel's")
END

# The interpreters of this version that can make an environment, on PATH or where pyenv and uv have them.
interpreters() {
  for python in "$(command -v "python$1" || :)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python"$1" \
    "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}"/cpython-"$1".*/bin/python"$1"; do
    [ -x "$python" ] || continue
    ! "$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "$python"; return; }
  done
}

# inside COMMAND...: with a PATH that has the environment's programs and nothing of the machine's but these few.
mkdir "$work/bin"
for tool in sh env cat; do ln -s "$(command -v $tool)" "$work/bin"; done
inside() { env -u PYTHONPATH PATH="$environment/bin:$work/bin" "$@"; }

# use PYTHON WHEEL: an environment of this interpreter, and everything in it.
use() {
  environment=$work/$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  "$1" -m venv "$environment"
  # By its file: PyPI has another project of this name.
  inside python -m pip --disable-pip-version-check -q install --only-binary :all: "$2" ||
    fail "pip did not install $2 with $1"
  cd "$work"
  inside python product.py
  inside gemm_compare --cpu --sizes 64 >compare.txt || fail "gemm_compare: $(cat compare.txt)"
  inside python -m tessera compare --cpu --sizes 64 --backend openmp >compare.txt ||
    fail "python -m tessera compare: $(cat compare.txt)"
  inside tessera_info >info.txt
  inside python -m tessera info >info.txt
  grep -q '^ *openmp  *available' info.txt || fail "tessera_info does not list OpenMP: $(cat info.txt)"
  if [ -e "$second" ]; then inside python second.py "$second"; else echo "skipped: no second libtessera at $second"; fi
  if command -v qemu-x86_64 >/dev/null; then
    for processor in Nehalem SandyBridge; do
      # The OpenBLAS of NumPy's wheel asks an emulated Nehalem for a register that it lacks, unless it is told the name.
      env OPENBLAS_CORETYPE=Nehalem qemu-x86_64 -cpu $processor "$environment/bin/python" product.py 2>qemu.txt ||
        fail "on a $processor: $(cat qemu.txt)"
    done
  else
    echo "skipped: no qemu-x86_64 (Debian package qemu-user), so no processor without AVX2"
  fi
}

# refused PYTHON: pip on a system whose C library is older than the wheel's name says.
refused() {
  environment=$work/$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  ! inside python -m pip --disable-pip-version-check -q download --no-deps --no-index --only-binary :all: --dest "$work" \
    --find-links "$packages" --platform manylinux_2_17_x86_64 tessera 2>"$work/refused.txt" ||
    fail "pip took the wheel for glibc 2.17"
  grep -q "No matching distribution found for tessera" "$work/refused.txt" || fail "pip said: $(cat "$work/refused.txt")"
  echo "pip refuses the wheel for glibc 2.17: $(tail -n 1 "$work/refused.txt")"
}

last=
for version in 3.10 3.11 3.12 3.13 3.14; do
  case $version in
    3.10 | 3.11) wheel=cp$(echo $version | tr -d .)-cp ;;
    *) wheel=cp312-abi3 ;;
  esac
  wheel=$(ls "$packages"/tessera-*-"$wheel"*.whl 2>/dev/null) || { echo "skipped: Python $version: no wheel for it"; continue; }
  python=$(interpreters $version)
  [ -n "$python" ] || { echo "skipped: no Python $version with venv"; continue; }
  use "$python" "$wheel"
  last=$python
done
[ -n "$last" ] || { echo "skipped: no interpreter that a wheel is for"; exit 77; }
refused "$last"
size=$(wc -c <"$(ls "$packages"/tessera-*.tar.gz)")
[ "$size" -lt 2000000 ] || fail "the source package has $size bytes"
! tar tzf "$packages"/tessera-*.tar.gz | grep -E '/(build|docs/results)/' || fail "the source package has these"
echo "all wheels work"
