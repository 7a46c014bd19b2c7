#!/bin/sh
# Fails where a library's code for processors with FMA calls fma or fmaf of the C library, a call for each multiply-add:
# such calls are for the `default` clones of TESSERA_FMA_CLONES alone, which other processors run.
# Usage: fma_calls.sh OBJDUMP LIBRARY
set -eu

"$1" -d --no-show-raw-insn "$2" | awk '
  /^[0-9a-f]+ <.*>:$/ { name = $2; clone = name ~ /[.]default[.0-9]*>:$/; clones += clone }
  /call.*<fmaf?(@plt)?>$/ { if (clone) ++allowed; else ++calls[name] }
  END {
    for (name in calls) { ++wrong; printf "%s calls fma of the C library in %d places\n", name, calls[name] }
    printf "%d clones for processors without FMA, with %d calls\n", clones, allowed
    exit wrong > 0 || clones == 0 || allowed == 0
  }'
