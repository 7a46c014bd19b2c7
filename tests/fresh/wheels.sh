#!/bin/sh
# Installs Python's wheels into fresh environments and uses them, with a PATH that has no compiler: the same bits on every
# backend, the programs, a driver that is missing or too old, an emulated processor without AVX2 (Debian package
# qemu-user), a second libtessera in the process, and an older C library, for which pip must refuse the wheel. Then
# bare_wheel.sh installs one on a bare Debian.
# It needs PyPI for NumPy. It exits with 77 where no interpreter can make an environment.
# Usage: wheels.sh [FOLDER-OF-PACKAGES [SECOND-LIBTESSERA]]; without a folder it builds the packages without CUDA code.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
packages=${1:-}
second=${2:-$root/build/check/lib/libtessera.so.0}
if [ -z "$packages" ]; then
  packages=$root/build/fresh-wheels
  rm -rf "$packages"
  TESSERA_CUDA_ARCHITECTURES=none "$root/tessera" wheel "$packages"
fi
packages=$(cd "$packages" && pwd)
second=$(realpath -m "$second")
use_wheel=$root/tests/fresh/use_wheel.py
work=$(mktemp -d "${TMPDIR:-/tmp}/tessera-wheels.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

fail() { echo "FAILED: $*"; exit 1; }

# A driver that says that it is too old.
old_driver=$work
"${CXX:-c++}" -shared -fPIC "$root/tests/backends/cuda/fake_driver.cpp" -o "$work/libcuda.so.1" 2>/dev/null || old_driver=

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
  inside python "$use_wheel" products
  inside python "$use_wheel" commands ${old_driver:+"$old_driver"}
  inside python "$use_wheel" lens none
  if command -v g++ >/dev/null; then
    inside python "$use_wheel" lens "$(command -v g++)"
  else
    echo "skipped: no g++, so that the lens runs nothing"
  fi
  if [ -e "$second" ]; then
    inside python "$use_wheel" second "$second"
  else
    echo "skipped: no second libtessera at $second"
  fi
  if command -v qemu-x86_64 >/dev/null; then
    for processor in Nehalem SandyBridge; do
      # The OpenBLAS of NumPy's wheel asks an emulated Nehalem for a register that it lacks, unless it is told the name.
      env OPENBLAS_CORETYPE=Nehalem qemu-x86_64 -cpu $processor "$environment/bin/python" "$use_wheel" products 2>qemu.txt ||
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
for wheel in "$packages"/tessera-*.whl; do
  size=$(wc -c <"$wheel")
  echo "$(basename "$wheel"): $((size / 1000000)) MB"
  [ "$size" -lt 100000000 ] || fail "$wheel has $size bytes; PyPI takes 100 MB"
done
rc=0
"$root/tests/fresh/bare_wheel.sh" "$packages" || rc=$?
[ $rc = 0 ] || [ $rc = 77 ] || fail "on a bare Debian"
echo "all wheels work"
