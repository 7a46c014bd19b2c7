#!/bin/sh
# streams.sh GEMM_COMPARE GEMM_BENCH TESSERA_INFO GEMM_JUDGE EXAMPLE...: standard streams that cannot be written to: full
# disks, closed descriptors, pipes whose reader is gone. A message is of less worth than a result, so that a message that
# is lost changes neither the results nor the exit status. A result that is lost is exit status 2.
compare=$1 bench=$2 info=$3 judge=$4
shift 4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# expect STATUS WHAT: the last command's exit status is in $status.
expect() {
  [ "$status" = "$1" ] && return
  echo "$2: exit status $status instead of $1"
  failures=$((failures + 1))
}
wrong() {
  echo "$1"
  failures=$((failures + 1))
}
# with REDIRECTION COMMAND...: runs the command; sets $status. stdout goes to the file out unless it is redirected.
with() {
  redirection=$1
  shift
  (eval "\"\$@\" > out $redirection") 2> /dev/null
  status=$?
}

work_of_compare='--backend reference --kernels gold --sizes 8 --repeat 1'
work_of_bench='peers --shapes 8x8x8 --dtype f32 --threads 1 --rounds 1 --sample-ms 0.01 --library none.so'
work_of_info='--no-kernels'

for name in compare bench info; do
  eval "program=\$$name work=\$work_of_$name"
  # shellcheck disable=SC2086
  for redirection in '2> /dev/full' '2>&-' '2> /dev/full < /dev/null' '2>&- 0<&-'; do
    with "$redirection" "$program" --no-such-option
    expect 2 "$name --no-such-option $redirection"
    [ -s out ] && wrong "$name --no-such-option $redirection: stdout has $(cat out)"
    if [ $name = bench ]; then
      with "$redirection" "$program" $work
      expect 2 "$name with a library that is not there $redirection"
      continue
    fi
    with "$redirection" "$program" $work
    expect 0 "$name $redirection"
    [ -s out ] || wrong "$name $redirection: stdout is empty"
  done
  # shellcheck disable=SC2086
  for redirection in '> /dev/full' '>&-' '>&- 2>&-' '>&- 2> /dev/full' '0<&- 1>&- 2>&-'; do
    with "$redirection" "$program" --help
    expect 2 "$name --help $redirection"
    with "$redirection" "$program" $work
    expect 2 "$name $redirection"
  done
  # The reader of stderr is gone before the program begins.
  (
    trap '' HUP
    { sleep 0.2; "$program" --no-such-option > out; echo $? > status; } 2>&1 | true
    while [ ! -s status ]; do sleep 0.1; done
  )
  status=$(cat status)
  rm status
  expect 2 "$name --no-such-option, without a reader of stderr"
done

# The results are what they are, whatever stderr is. 128 bytes of header and the number 4 as f32.
printf '\223NUMPY\001\000v\000%-117s\n\000\000\000@' \
  "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }" > a.npy
for redirection in '2> /dev/full' '2>&-' '0<&- 2>&-'; do
  for limit in '' '--memory-limit 32MiB'; do
    rm -f c.npy
    # shellcheck disable=SC2086
    with "$redirection" "$compare" --backend reference --a a.npy --b a.npy --out c.npy $limit
    [ -n "$limit" ] && [ "$status" = 2 ] && with "$redirection" "$compare" --a a.npy --b a.npy --out c.npy $limit
    expect 0 "gemm_compare --out $limit $redirection"
    [ "$(tail -c 4 c.npy | od -An -tx1)" = ' 00 00 80 40' ] || wrong "--out $limit $redirection: c.npy is wrong"
    [ "$(wc -c < c.npy)" -eq 132 ] || wrong "--out $limit $redirection: c.npy has $(wc -c < c.npy) bytes"
  done
done
(
  { sleep 0.2; "$compare" --backend reference --a a.npy --b a.npy --out d.npy > out; echo $? > status; } 2>&1 | true
  while [ ! -s status ]; do sleep 0.1; done
)
status=$(cat status)
expect 0 'gemm_compare --out, without a reader of stderr'
cmp -s c.npy d.npy || wrong 'gemm_compare --out, without a reader of stderr: d.npy is wrong'

# A file never gets the number of a stream that was closed, and with it what the program says there.
for redirection in '2>&-' '0<&- 2>&-' '0<&- 1>&- 2>&-'; do
  rm -f r.json r.csv i.json
  # shellcheck disable=SC2086
  TESSERA_LOG=dispatch with "$redirection" "$compare" $work_of_compare --json r.json --csv r.csv
  grep -q '^tessera:\|^gemm_compare:' r.json r.csv 2> /dev/null && wrong "$redirection: a report has a message"
  TESSERA_LOG=dispatch with "$redirection" "$info" --json i.json
  expect 0 "tessera_info --json i.json $redirection"
  [ "$(head -c 1 i.json)" = '{' ] || wrong "$redirection: i.json does not begin with {"
done

# Programs that say something on stderr and write no file.
for redirection in '2> /dev/full' '2>&-'; do
  with "$redirection" "$judge"
  [ "$status" -lt 126 ] || wrong "gemm_judge $redirection: exit status $status"
  for example in "$@"; do
    with "$redirection" "$example"
    expect 0 "$example $redirection"
  done
done
[ $failures -eq 0 ]
