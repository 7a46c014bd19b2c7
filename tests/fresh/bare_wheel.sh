#!/bin/sh
# Installs a wheel on a bare Debian 12 that has Python, pip and nothing to compile with, and uses it as use_wheel.py
# says. It needs root, mmdebstrap and the network, and is skipped, with 77, without the first two. It takes two minutes.
# Options:
#
#   --keep             leaves the machine where it is, and says where
# Usage: bare_wheel.sh [--keep] FOLDER-OF-PACKAGES
set -eu

script=$0
. "$(dirname "$0")/machine.sh"

# --- inside ---------------------------------------------------------------------------------------------------------

make_machine() {
  start_machine && cp -r "$work/srv/." "$machine/srv" && chmod -R a+rX "$machine/srv" &&
    inside_as root 'useradd --create-home --shell /bin/sh user'
}

no_compiler() {
  inside_as user 'for tool in cc gcc c++ g++ clang clang++ nvcc cmake ninja make ld; do
    ! command -v $tool || { echo "this machine is not bare: it has $tool"; exit 1; }
  done; python3 --version; ldd --version | head -n 1'
}

# By its file: PyPI has another project of this name.
install_wheel() {
  inside_as user 'python3 -m venv env && env/bin/python -m pip --disable-pip-version-check install --only-binary :all: \
    /srv/tessera-*.whl && env/bin/python -m pip check && ls -l env/lib/python3*/site-packages/tessera'
}

use() { inside_as user "PATH=\$HOME/env/bin:\$PATH python /srv/use_wheel.py $*"; }
use_commands() { if [ -e "$machine/srv/libcuda.so.1" ]; then use commands /srv; else use commands; fi; }

# For the log. The environment is not on PATH.
say_what_is_here() { inside_as user 'env/bin/python -m tessera info --no-kernels && env/bin/gemm_compare --list'; }

if [ "${1:-}" = --inside ]; then
  work=$2
  machine=$work/machine
  step "mmdebstrap" make_base ca-certificates,python3,python3-venv || exit 1
  step "a bare Debian" make_machine || exit 1
  step "without a compiler" no_compiler || exit 1
  step "pip install" install_wheel || exit 1
  step "products" use products || :
  step "commands" use_commands || :
  step "info, list" say_what_is_here || :
  exit 0
fi

# --- outside --------------------------------------------------------------------------------------------------------

keep=no packages=
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=yes ;;
    -*) fail "unknown option $1; see the head of $0" ;;
    *) packages=$1 ;;
  esac
  shift
done
need_machines
# Debian 12 has Python 3.11.
wheel=$(ls "${packages:?the folder of the packages is missing}"/tessera-*-cp311-cp311-*.whl 2>/dev/null) ||
  skip "there is no wheel for Python 3.11, which Debian 12 has, in $packages"

prepare
mkdir "$work/srv"
cp "$wheel" "$root/tests/fresh/use_wheel.py" "$work/srv"
# A driver that says that it is too old.
"${CXX:-c++}" -shared -fPIC "$root/tests/backends/cuda/fake_driver.cpp" -o "$work/srv/libcuda.so.1" ||
  rm -f "$work/srv/libcuda.so.1"
rc=0
run_inside "$work" || rc=$?
cat "$logs/products.log" "$logs/commands.log" 2>/dev/null || :
exit $rc
