#!/bin/sh
# Runs all cases of overlap.c: overlap.sh PROGRAM. Each ends in an abort that names a or b by turns, and its own sizes.
case_of=0
while [ $case_of -lt 12 ]; do
  if [ $((case_of % 2)) -eq 0 ]; then wanted='c(\[0\])? overlaps a(\[0\])? .*c is 6×8, a is 6×4'; else wanted='c(\[0\])? overlaps b(\[0\])? .*c is 6×8, b is 4×8'; fi
  said=$("$1" $case_of 2>&1)
  status=$?
  [ $status -eq 134 ] && printf '%s\n' "$said" | grep -Eq "$wanted" || {
    echo "FAILED: case $case_of ended with status $status: $said"
    exit 1
  }
  case_of=$((case_of + 1))
done
