#!/bin/sh
# Builds libtessera and the OpenMP plug-in for AArch64 and compares their bits with the reference's under an emulator.
# It exits with 77, which CTest shows as skipped, where Debian's g++-aarch64-linux-gnu or qemu-user is missing.
# Usage: neon.sh SOURCE-OF-TESSERA FOLDER-TO-WORK-IN [CMAKE-OPTION...]
set -eu

source=$1
work=$2
shift 2
for tool in aarch64-linux-gnu-g++ qemu-aarch64 ninja; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done

mkdir -p "$work"
cat >"$work/aarch64.cmake" <<'END'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
END
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DTESSERA_BUILD_APPS=OFF -DTESSERA_BUILD_TESTS=OFF -DTESSERA_CUDA=OFF -DTESSERA_TBB=OFF -DTESSERA_MPI=OFF \
  -DTESSERA_OPENMP=ON -DTESSERA_WERROR=ON "$@" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { tail -30 "$work/build.log"; exit 1; }
aarch64-linux-gnu-g++ -std=c++20 -O1 -Wall -Werror -ffp-contract=off -I "$source/include" -I "$work/build/include" \
  "$source/tests/backends/conformance/neon.cpp" -L "$work/build/lib" -ltessera -Wl,-rpath,"$work/build/lib" -o "$work/neon"

run() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"; }
run "$work/neon" neon
run -E TESSERA_CPU_ISA=portable "$work/neon" portable
