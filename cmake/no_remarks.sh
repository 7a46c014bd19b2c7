#!/bin/sh
# no_remarks.sh COMMAND...: runs a compiler and fails where ptxas remarks that it gave up what the source asks for:
# C7508 (setmaxnreg is ignored), C7510 to C7519 (warpgroup products are serialised, or waits put between them). These
# are neither warnings nor errors to nvcc, but such a kernel runs at a fraction of its speed.
output=$("$@" 2>&1)
status=$?
[ -z "$output" ] || printf '%s\n' "$output" >&2
[ "$status" = 0 ] || exit "$status"
case $output in
  *C750[0-9]* | *C751[0-9]*)
    echo "ptxas remarked on a kernel's pipeline (see above); this build takes that for an error" >&2
    exit 1
    ;;
esac
