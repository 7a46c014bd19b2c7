#!/bin/sh
# Runs netlib's testers of LAPACK (Debian's liblapack-test) for one type of numbers: linear equations, eigenvalues and
# singular values. The system's LAPACK runs alone and with the drop-in in front of it, at the same time. A group of tests
# fails here where it fails more often with the drop-in, is missing, or where a tester says something else of the kind.
# A short run with Tessera's log then shows that the drop-in's own routines of LAPACK are the ones under test.
# It exits with 77, which CTest shows as skipped, where the testers are missing.
# Usage: lapack_testers.sh LIBRARY FOLDER-TO-WORK-IN TYPE, which is s, d, c or z
set -eu

library=$1
work=$2
type=$3
preloaded=$(cd "$(dirname "$0")" && pwd)/../../support/preloaded.sh
testers=/usr/lib/$(uname -m)-linux-gnu/lapack
[ -x "$testers/xlintst$type" ] || { echo "skipped: no netlib testers in $testers (Debian package liblapack-test)"; exit 77; }
export TESSERA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # matrices have at most 50 rows, and two testers run at once
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# run FOLDER LIBRARY: the testers' outputs, a file for each input.
run() {
  mkdir -p "$1"
  for input in "${type}test" nep sep se2 svd "${type}ec" "${type}ed" "${type}gg" "${type}gd" "${type}sb" "${type}sg" \
    "${type}bb" glm gqr gsv csd lse "${type}bal" "${type}bak" "${type}gbal" "${type}gbak"; do
    [ -f "$testers/$input.in" ] || continue
    tester=$testers/xeigtst$type
    [ "$input" != "${type}test" ] || tester=$testers/xlintst$type
    "$preloaded" "$2" "$tester" <"$testers/$input.in" >"$1/$input.out" 2>"$1/$input.err" ||
      echo " *** the tester ended with status $?" >>"$1/$input.out"
  done
}

# summary FOLDER: lines of input and group, reports, tests, failures, between bars.
summary() {
  for output in "$1"/*.out; do
    sed -nE -e 's/^ *All tests for (.*[^ ]) +passed.*\( *([0-9]+) *tests run\).*/\1|\2|0/p' \
      -e 's/^ *([A-Za-z0-9 ]+): +([0-9]+) +out of +([0-9]+) +tests failed.*/\1|\3|\2/p' \
      -e 's/^ *([A-Z0-9 ]+) passed the tests of the error exits.*/error exits of \1|1|0/p' \
      -e 's/^ *End of tests.*/end|1|0/p' \
      -e '/out of/!{/\*\*\*|[Ff]ail|INFO *=/{s/[0-9.]+//g; s/.*/&|0|1/; p}}' "$output" |
      sed -E "s/ routines\|/|/; s/^/$(basename "$output" .out) /"
  done | awk -F'|' '{ ++reports[$1]; tests[$1] += $2; failures[$1] += $3 }
    END { for (group in reports) print group "|" reports[group] "|" tests[group] "|" failures[group] }' | sort
}

run alone "" &
run preloaded "$library"
wait
summary alone >alone.txt
summary preloaded >preloaded.txt
# A line of `***` has no tests; the others say by which report the group is known.
awk -F'|' '
  NR == FNR { reports[$1] = $2; failures[$1] = $4; if ($4 > 0) print "the system fails: " $1 ", " $4; next }
  { tests += $3; ++groups; seen[$1] = 1
    if ($4 > failures[$1]) { print "FAILED: " $1 ", " $4 " and without the drop-in " failures[$1] + 0; wrong = 1 }
    else if ($3 > 0 && $2 != reports[$1]) { print "FAILED: " $1 " has " $2 " reports, not " reports[$1]; wrong = 1 } }
  END { for (group in reports) if (!(group in seen) && group !~ /\*\*\*/) { print "FAILED: no report of " group; wrong = 1 }
    print tests " tests in " groups " groups with the drop-in"
    exit wrong || tests < 100000 }' alone.txt preloaded.txt

# Small matrices and few groups, with a log of the routines that run.
upper=$(echo "$type" | tr a-z A-Z)
sed -E -e 's/^7( +Number of values)/3\1/' -e 's/^0 1 2 3 5 10 50/2 3 10/' -e "/^$upper(GE|PO|TR|QR|LS) /!{/^$upper[A-Z0-9]{2}( |$)/d}" \
  "$testers/${type}test.in" >short.in
TESSERA_LOG=dispatch "$preloaded" "$library" "$testers/xlintst$type" <short.in 2>&1 >/dev/null |
  sed -nE 's/^tessera: BLAS: ([a-z0-9]+)_ n=.* runs$/\1/p' | sort | uniq -c >reached.txt
case $type in
  s | d) own='geqrf orgqr ormqr gels trsm gemv' ;;
  *) own='geqrf ungqr unmqr gels trsm trmm gemv gerc her' ;;
esac
for routine in getrf getri getrs gesv gecon potrf potri potrs posv pocon trtri trtrs trcon $own; do
  grep -Eq " $type$routine\$" reached.txt || { echo "FAILED: the testers did not reach $type$routine"; exit 1; }
done
echo "$(wc -l <reached.txt) routines of the drop-in were reached"
