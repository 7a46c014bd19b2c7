#!/bin/sh
# Tests what ./tessera compiles CUDA code for: on machines with no GPU, with one, and with several, with nvcc and without.
# Also tests that it leaves out a clang that has no OpenMP. CMake, Ninja and the compilers are stand-ins that write down
# how they were called.
# Usage: device_code.sh SOURCE-FOLDER FOLDER-TO-WORK-IN
set -eu

source=$1
work=$2
case $work in *\'*) work=$(mktemp -d) ;; esac # nvcc takes no path with a quote, and most of this is about nvcc
rm -rf "$work"
mkdir -p "$work/clone/cmake" "$work/bin"
cd "$work"
cp "$source/tessera" "$source/CMakePresets.json" clone
cp -r "$source/cmake/script" "$source/cmake/debian-packages.txt" clone/cmake
for program in gemm_compare tessera_info; do
  mkdir -p clone/apps/$program
  cp "$source/apps/$program/$program.1" clone/apps/$program
done
# environment FOLDER PINNED: one that is there already, so that none is made.
environment() {
  mkdir -p "clone/$1/bin" "clone/${2%/*}"
  cp "$source/$2" "clone/$2"
  cp "$source/$2" "clone/$1/made-from"
  printf '#!/bin/sh\nexit 0\n' >"clone/$1/bin/python"
  chmod +x "clone/$1/bin/python"
}
environment build/python-environment tests/bindings/python/requirements.txt
environment build/docs/environment docs/site/requirements.txt

for tool in sh awk cat cmp cp date dirname env find grep id mkdir nproc paste rm sed seq sleep sort tr xargs; do
  ln -s "$(command -v $tool)" bin
done

# stand_in NAME: makes a program of standard input.
stand_in() { { echo '#!/bin/sh'; cat; } >"bin/$1"; chmod +x "bin/$1"; }
stand_in dpkg-query <<'END'
for package; do echo "$package=installed"; done
END
stand_in cmake <<'END'
echo "cmake $*" >>"$CALLS"
source=
while [ $# -gt 0 ]; do
  case $1 in
    -S) source=$2 ;;
    --preset) build=$source/build/$2 ;;
  esac
  shift
done
[ -n "$source" ] || exit 0
mkdir -p "$build/bin" && : >"$build/build.ninja"
for program in gemm_compare tessera_info; do cp "${0%/*}/ctest" "$build/bin/$program"; done
END
for tool in ninja ctest; do echo "echo \"$tool \$*\" >>\"\$CALLS\"" | stand_in $tool; done
stand_in cpack <<'END'
echo "cpack $*" >>"$CALLS"
while [ $# -gt 0 ]; do [ "$1" != -B ] || { mkdir -p "$2"; : >"$2/some.deb"; }; shift; done
END
for tool in python3 clang-format clang-tidy doxygen; do echo 'exit 0' | stand_in $tool; done
echo 'cat "$GPUS"' | stand_in nvidia-smi
echo 'echo sm_75 sm_80 sm_86 sm_90 sm_90a sm_120' | stand_in nvcc
echo '[ "$1" != -dumpversion ] || { echo 16.0.6; exit; }
exit "$OPENMP_STATUS"' | stand_in clang++

# run GPUS COMMAND...: runs ./tessera on a machine with these compute capabilities.
run() {
  printf '%s\n' $1 >gpus
  shift
  : >calls
  rm -rf clone/build/programs clone/build/bundle clone/build/deb
  printed=$(env -i PATH="$work/bin" CALLS="$work/calls" GPUS="$work/gpus" OPENMP_STATUS="${openmp:-0}" \
    ${setting:+"$setting"} "${clone:-clone}/tessera" "$@" 2>&1 </dev/null) || { echo "./tessera $* failed: $printed"; exit 1; }
  calls=$(cat calls)
}
# expect WORDS TEXT and expect_not WORDS TEXT
expect() { case $2 in *"$1"*) ;; *) echo "this is missing: $1; there was: $2"; exit 1 ;; esac; }
expect_not() { case $2 in *"$1"*) echo "this should not be there: $1; there was: $2"; exit 1 ;; esac; }

# A device without a compute capability in nvidia-smi is what a real GPU looks like to these stand-ins.
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then
  echo "this machine has a GPU: what ./tessera does without one is not tested here"
else
  for command in "compare" "compare --cpu" "info" "build"; do
    run "" $command
    expect "no NVIDIA GPU" "$printed"
    expect "-DTESSERA_CUDA=OFF" "$calls"
  done
  run "" compare --list
  expect "compiled for lists alone" "$printed"
  expect "-DTESSERA_CUDA_ARCHITECTURES=90a-real -DTESSERA_OPTIMIZE_DEVICE_CODE=OFF" "$calls"
  run "6.1" build
  expect "6.1 is left out: Tessera needs 7.5" "$printed"
  expect "-DTESSERA_CUDA=OFF" "$calls"
fi

run "9.0" compare --sizes 256
expect "-DTESSERA_CUDA_ARCHITECTURES=90a-real" "$calls"
expect "gemm_compare tessera_processor_backends tessera_cuda" "$calls"
expect_not "OPTIMIZE_DEVICE_CODE" "$calls"
expect "--preset programs" "$calls"
expect_not "left out" "$printed"
run "9.0" compare --cpu
expect "gemm_compare tessera_processor_backends" "$calls"
expect_not "tessera_cuda" "$calls"
run "9.0" test
expect "-DTESSERA_CUDA_ARCHITECTURES=90a-real" "$calls"
expect "--preset test" "$calls"
expect "cmake --build --preset core" "$calls" # the core alone
expect "ctest --preset core" "$calls"
run "9.0" test -R one
expect "-R one" "$calls"
expect_not "--preset core" "$calls" # one test was asked for
run "9.0 8.6 9.0 12.0 6.1" build
expect "-DTESSERA_CUDA_ARCHITECTURES=120-real;86-real;90a-real" "$calls"
run "13.0" build # nvcc does not know it
expect "does not know compute capability 13.0" "$printed"
expect "-DTESSERA_CUDA_ARCHITECTURES=80-virtual" "$calls"
setting=CUDACXX=/nonexistent/nvcc
run "9.0" compare
expect "a GPU of compute capability 9.0, but no nvcc" "$printed"
run "" compare
expect "the CUDA backend is left out: no NVIDIA GPU" "$printed"
expect "-DTESSERA_CUDA=OFF" "$calls"
setting=TESSERA_CUDA_ARCHITECTURES=80-real
for command in "compare" "build" "bundle moved"; do
  run "" $command
  expect "-DTESSERA_CUDA_ARCHITECTURES=80-real" "$calls"
  expect_not "TESSERA_CUDA=OFF" "$calls"
  expect_not "GPU" "$printed"
done
setting=
for command in bundle deb; do
  run "9.0" $command "$work/moved"
  expect "--preset $command" "$calls" # whose architectures are a release's
  expect_not "ARCHITECTURES" "$calls"
  setting=CUDACXX=/nonexistent/nvcc
  run "9.0" $command "$work/moved"
  expect "there is no nvcc: the CUDA backend is left out" "$printed"
  expect "-DTESSERA_CUDA=OFF" "$calls"
  setting=TESSERA_CUDA_ARCHITECTURES=none
  run "9.0" $command "$work/moved"
  expect_not "nvcc" "$printed"
  expect "-DTESSERA_CUDA=OFF" "$calls"
  expect_not "ARCHITECTURES" "$calls"
  # What the caller names is not left out silently.
  if printed=$(env -i PATH="$work/bin" CUDACXX=/nonexistent/nvcc TESSERA_CUDA_ARCHITECTURES=90a-real clone/tessera $command "$work/moved" 2>&1); then
    echo "./tessera $command compiles for 90a-real without nvcc: $printed"
    exit 1
  fi
  expect "TESSERA_CUDA_ARCHITECTURES=90a-real asks for CUDA code, but there is no nvcc" "$printed"
  setting=
done
expect "some.deb" "$(echo moved/*)"
for command in "compare" "compare --cpu" "info" "build"; do
  setting=TESSERA_CUDA_ARCHITECTURES=none
  run "9.0" $command
  expect "-DTESSERA_CUDA=OFF" "$calls"
  expect_not "ARCHITECTURES" "$calls"
  setting=
done

run "" check
expect "-DCMAKE_CXX_COMPILER=clang++" "$calls"
expect_not "skipped" "$printed"
openmp=1
run "" check
expect "build and tests with clang are skipped: clang++ cannot compile an OpenMP program (Debian package libomp-16-dev)" "$printed"
expect_not "-DCMAKE_CXX_COMPILER=clang++" "$calls"
# nvcc would find no header.
setting=
clone="it's a clone"
mv clone "$clone"
run "9.0" compare
expect "the CUDA backend is left out: nvcc finds no header in a path with a quote" "$printed"
expect "-DTESSERA_CUDA=OFF" "$calls"
expect_not "tessera_cuda" "$calls"
echo "the script compiles for the GPUs that are there"
