#!/bin/sh
# Runs netlib's testers of the BLAS (Debian's libblas-test) with the drop-in in front of their BLAS: all of levels 1, 2
# and 3, through Fortran and C, values and illegal arguments. The testers' inputs name the routines and sizes; here they
# name one routine that the drop-in has, and also sizes beyond a tile. Each call that a tester counts must be in Tessera's
# log. The testers of level 1 have no inputs and count nothing.
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

# only ROUTINE SUMMARY-FILE <INPUT: the tester's input with our sizes, and with no other routine.
only() {
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

# check NAME SUMMARY LINE: the log has as many lines of this kind as the summary counts calls.
check() {
  counted=$(sed -n 's/.*COMPUTATIONAL TESTS ( *\([0-9]*\) CALLS).*/\1/p' "$2" | awk '{ n += $1 } END { print n + 0 }')
  reached=$(grep -Ec "$3" "$1.log" || true)
  echo "$1 on $backend: $counted calls passed, $reached of them ran in Tessera"
  [ "$counted" -gt 0 ] && [ "$counted" -eq "$reached" ] || { echo "FAILED: these numbers must agree"; exit 1; }
}

run() {
  TESSERA_BACKEND=$backend TESSERA_LOG=dispatch "$preloaded" "$library" "$@" || echo "***** $1 ended with status $?"
}

# try TYPE NAME LEVEL: runs the testers of both interfaces for ?NAME.
try() {
  lower=$1$2
  upper=$(echo "$lower" | tr a-z A-Z)
  product="^tessera: gemm .*: $backend/[a-z0-9_]+ runs\$"

  only "cblas_$lower" unused <"$testers/${1}in$3" >cblas.in
  run "$testers/x${1}cblat$3" <cblas.in >cblas.out 2>"cblas_$lower.log"
  refused=$(echo "cblas_$lower" | sed 's/ger[cu]$/ger[cu]/') # the tester prints geru for gerc there
  expect cblas.out "$refused +PASSED THE TESTS OF ERROR-EXITS" \
    "cblas_$lower +PASSED THE (COLUMN-MAJOR )?COMPUTATIONAL" "cblas_$lower +PASSED THE (ROW-MAJOR +)?COMPUTATIONAL"
  [ "$2" = gemm ] || product="^tessera: BLAS: cblas_$lower n=.* runs\$"
  check "cblas_$lower" cblas.out "$product"

  only "$upper" fortran.out <"$testers/${1}blat$3.in" >fortran.in
  run "$testers/xblat$3$1" <fortran.in >fortran.stdout 2>"${lower}_.log"
  expect fortran.out "$upper +PASSED THE TESTS OF ERROR-EXITS" "$upper +PASSED THE COMPUTATIONAL TESTS"
  [ "$2" = gemm ] || product="^tessera: BLAS: ${lower}_ n=.* runs\$"
  check "${lower}_" fortran.out "$product"
  rm -f ./*.log
}

# try_vectors TYPE ROUTINE...: runs the testers of level 1, which must call all these routines of Tessera's.
try_vectors() {
  type=$1
  shift
  for tester in "xblat1$type" "x${type}cblat1"; do
    run "$testers/$tester" </dev/null >vectors.out 2>vectors.log
    expect vectors.out "PASS"
    for routine; do
      case $tester:$routine in x?cblat1:*rotm* | x?cblat1:sdsdot | x?cblat1:[cz]scal) continue ;; esac # which the testers of C do not call
      name="${routine}_"
      [ "$tester" = "xblat1$type" ] || name=$(echo "cblas_$routine" | sed 's/dot[uc]$/&_sub/')
      grep -q "^tessera: BLAS: $name n=.* runs\$" vectors.log || { echo "FAILED: $tester did not call $name"; exit 1; }
    done
    echo "$tester on $backend: $(grep -c PASS vectors.out) groups of tests passed"
  done
}

try_vectors s sdot snrm2 sasum isamax scopy sswap saxpy sscal srot srotm srotg srotmg sdsdot
try_vectors d ddot dnrm2 dasum idamax dcopy dswap daxpy dscal drot drotm drotg drotmg
try_vectors c cdotu cdotc scnrm2 scasum icamax ccopy cswap caxpy cscal csscal
try_vectors z zdotu zdotc dznrm2 dzasum izamax zcopy zswap zaxpy zscal zdscal
triangles='trmv tbmv tpmv trsv tbsv tpsv'
for type in s d c z; do
  for name in gemm symm trmm trsm syrk syr2k; do try $type $name 3; done
  case $type in
    s | d) own='symv sbmv spmv ger syr spr syr2 spr2' ;;
    *) own='hemv hbmv hpmv geru gerc her hpr her2 hpr2' ;;
  esac
  for name in gemv gbmv $triangles $own; do try $type $name 2; done
done
for type in c z; do
  for name in hemm herk her2k; do try $type $name 3; done
done
