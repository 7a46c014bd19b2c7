#!/bin/sh
# Runs a part of the conformance test on processors of the past, which qemu-user emulates: one without AVX, and one with
# AVX but without FMA and AVX2. The bits must agree with the reference, and an instruction that the processor lacks ends
# the program. It takes some minutes and is run by hand, on an ordinary build with tests.
# It exits with 77 where Debian's qemu-user is missing.
# Usage: old_processor.sh BUILD-FOLDER [ARGUMENTS-OF-THE-TEST, e.g. --run_test=gemm/*/*/simd*]
set -eu

build=${1:?the build folder is missing, e.g. build/check}
shift
if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: qemu-x86_64 is not installed (Debian package qemu-user)"
  exit 77
fi
for program in tessera_conformance tessera_info; do
  [ -x "$build/bin/$program" ] || { echo "no $build/bin/$program: build the programs and tests first"; exit 2; }
done

failed=
for processor in Nehalem SandyBridge; do
  on_old() { qemu-x86_64 -cpu "$processor" "$@"; }
  if ! on_old "$build/bin/tessera_info" | grep -A1 '^ *openmp  *available' | grep -q ' portable,'; then
    echo "FAILED: on a $processor the OpenMP backend does not use its portable kernels:"
    on_old "$build/bin/tessera_info" || true
    exit 1
  fi
  if on_old "$build/bin/tessera_conformance" "$@" -- --backend=openmp --quick --every=100; then
    echo "$processor: ok"
  else
    echo "$processor: FAILED"
    failed="$failed $processor"
  fi
done
[ -z "$failed" ] || { echo "failed on:$failed"; exit 1; }
