#!/bin/sh
# Runs netlib's testers of the level-3 BLAS (Debian's libblas-test) with the drop-in in front of their BLAS: ?gemm_ and
# cblas_?gemm of all four types, values and illegal arguments. The testers' inputs name the routines and sizes; here they
# name gemm alone, because the drop-in has no other routine, and also sizes beyond a tile. Each product that a tester
# counts must be in Tessera's log.
# It exits with 77, which CTest shows as skipped, where the testers are missing.
# Usage: netlib.sh LIBRARY BACKEND FOLDER-TO-WORK-IN [FOLDER-OF-THE-TESTERS [THEIR-PACKAGE]]
set -eu

library=$1
backend=$2
work=$3
preloaded=$(cd "$(dirname "$0")" && pwd)/../../support/preloaded.sh
testers=${4:-/usr/lib/$(uname -m)-linux-gnu/blas}
[ -x "$testers/xscblat3" ] || { echo "skipped: no netlib testers in $testers (Debian package ${5:-libblas-test})"; exit 77; }

sizes='0 1 2 3 9 65'
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# gemm_only ROUTINE SUMMARY-FILE <INPUT: the tester's input with our sizes, and with no other routine.
gemm_only() {
  sed -E -e "s/^[0-9]+( +NUMBER OF VALUES OF N)\$/$(echo "$sizes" | wc -w)\1/" -e "s/^[0-9 ]*( VALUES OF N)\$/$sizes\1/" \
    -e "s/^'[^']*'( +NAME OF SUMMARY)/'$2'\1/" -e "/^$1 /!s/^([a-zA-Z0-9_]+ +)T( PUT F FOR NO TEST)/\1F\2/"
}

# expect SUMMARY LINE...: the summary has the lines, and says of nothing that it failed.
expect() {
  summary=$1
  shift
  for line; do
    grep -Eq "$line" "$summary" || { echo "FAILED: no line '$line' in:"; cat "$summary"; tail -3 ./*.log; exit 1; }
  done
  if grep -Eiq 'fail|suspect|fatal|\*\*\*\*\*|unable' "$summary"; then
    echo "FAILED:"
    cat "$summary"
    exit 1
  fi
}

# check NAME SUMMARY: the log has as many products that ran as the summary counts calls.
check() {
  counted=$(sed -n 's/.*COMPUTATIONAL TESTS ( *\([0-9]*\) CALLS).*/\1/p' "$2" | awk '{ n += $1 } END { print n + 0 }')
  reached=$(grep -Ec "^tessera: gemm .*: $backend/[a-z0-9_]+ runs\$" "$1.log" || true)
  echo "$1 on $backend: $counted calls passed, $reached of them ran in Tessera"
  [ "$counted" -gt 0 ] && [ "$counted" -eq "$reached" ] || { echo "FAILED: these numbers must agree"; exit 1; }
}

run() {
  TESSERA_BACKEND=$backend TESSERA_LOG=dispatch "$preloaded" "$library" "$@" || echo "***** $1 ended with status $?"
}

for type in s d c z; do
  TYPE=$(echo $type | tr sdcz SDCZ)

  gemm_only "cblas_${type}gemm" unused <"$testers/${type}in3" >cblas.in
  run "$testers/x${type}cblat3" <cblas.in >cblas.out 2>"cblas_${type}gemm.log"
  expect cblas.out "cblas_${type}gemm +PASSED THE TESTS OF ERROR-EXITS" \
    "cblas_${type}gemm +PASSED THE COLUMN-MAJOR COMPUTATIONAL" "cblas_${type}gemm +PASSED THE ROW-MAJOR +COMPUTATIONAL"
  check "cblas_${type}gemm" cblas.out

  gemm_only "${TYPE}GEMM" fortran.out <"$testers/${type}blat3.in" >fortran.in
  run "$testers/xblat3$type" <fortran.in >fortran.stdout 2>"${type}gemm_.log"
  expect fortran.out "${TYPE}GEMM +PASSED THE TESTS OF ERROR-EXITS" "${TYPE}GEMM +PASSED THE COMPUTATIONAL TESTS"
  check "${type}gemm_" fortran.out
  rm -f ./*.log
done
