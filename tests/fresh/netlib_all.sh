#!/bin/sh
# Runs all of netlib's testers of the BLAS (Debian package libblas-test) with the libblas.so.3 in use: levels 1, 2 and 3,
# in Fortran and in C. The level-3 testers' products must be in Tessera's log. It writes into the folder it is called in.
set -eu

testers=$(echo /usr/lib/*-linux-gnu/blas)
export TESSERA_LOG=dispatch
passed=0

# run NAME [INPUT]: the tester's report, wherever it writes it, passes something and fails nothing.
run() {
  rm -f ./*.out ./*.OUT
  "$testers/$1" <"${2:-/dev/null}" >report 2>log || { echo "$1 ended with status $?"; cat report log; exit 1; }
  cat ./*.out ./*.OUT >>report 2>/dev/null || :
  if grep -Ei 'fail|suspect|fatal|\*\*\*\*\*|unable|not detected' report || ! grep -q PASS report; then
    echo "FAILED: $1"
    cat report
    exit 1
  fi
  lines=$(grep -c PASS report)
  passed=$((passed + lines))
  echo "$1: $lines lines say PASS, $(grep -c ' runs$' log || :) products ran in Tessera"
}

for type in s d c z; do
  run xblat1$type
  run xblat2$type "$testers/${type}blat2.in"
  run xblat3$type "$testers/${type}blat3.in"
  grep -q "gemm .* runs\$" log || { echo "FAILED: no product of xblat3$type ran in Tessera"; exit 1; }
  run x${type}cblat1
  run x${type}cblat2 "$testers/${type}in2"
  run x${type}cblat3 "$testers/${type}in3"
  grep -q "gemm .* runs\$" log || { echo "FAILED: no product of x${type}cblat3 ran in Tessera"; exit 1; }
done
echo "$passed lines say PASS"
