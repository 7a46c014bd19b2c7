#!/bin/sh
# Looks for inputs that break a fuzz target: builds the targets with clang, libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, and runs each for some seconds from the inputs in corpus/.
# An input that breaks a target is left in FOLDER-TO-WORK-IN/NAME-crash-*; mend the fault and add the input to
# corpus/NAME. It exits with 77 where clang 16 or later with libFuzzer is missing.
# Usage: run.sh FOLDER-TO-WORK-IN [SECONDS-A-TARGET [TARGET...]]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?the folder to work in is missing}
seconds=${2:-60}
shift $(($# < 2 ? $# : 2))

clang=
for name in clang++ $(seq -f 'clang++-%.0f' 40 -1 16); do
  version=$("$name" -dumpversion 2>/dev/null) || continue
  [ "${version%%.*}" -ge 16 ] && clang=$name && break
done
if [ -z "$clang" ]; then
  echo "skipped: no clang++ of 16 or later (Debian packages clang-16 and libclang-rt-16-dev)"
  exit 77
fi

mkdir -p "$work"
work=$(cd "$work" && pwd)
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$work/probe.cpp"
"$clang" -fsanitize=fuzzer "$work/probe.cpp" -o "$work/probe" 2>"$work/probe.log" ||
  { echo "skipped: $clang has no libFuzzer (Debian package libclang-rt-${version%%.*}-dev)"; exit 77; }

launcher=
command -v ccache >/dev/null && launcher='-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'
# shellcheck disable=SC2086  # one word, or none
cmake -S "$here/../.." --preset fuzz -B "$work/build" $launcher -DCMAKE_CXX_COMPILER="$clang" \
  -DCMAKE_C_COMPILER="$(echo "$clang" | sed 's/clang++/clang/')" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
[ $# -gt 0 ] || set -- $(ls "$here/corpus")
# shellcheck disable=SC2046  # one word a target
cmake --build "$work/build" --target $(for name; do echo "tessera_fuzz_$name"; done) >"$work/build.log" ||
  { tail -30 "$work/build.log"; exit 1; }

failed=
for name; do
  mkdir -p "$work/found/$name"
  if XDG_CACHE_HOME=$work/cache ASAN_OPTIONS=allocator_may_return_null=1 "$work/build/bin/tessera_fuzz_$name" \
    -max_total_time="$seconds" -max_len=4096 -timeout=10 -print_final_stats=1 -artifact_prefix="$work/$name-" \
    "$work/found/$name" "$here/corpus/$name" >"$work/$name.log" 2>&1; then
    verdict=ok
  else
    verdict=FAILED
    failed="$failed $name"
    tail -30 "$work/$name.log"
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log") executions, $verdict"
done
[ -z "$failed" ] || { echo "failed:$failed; the inputs are in $work"; exit 1; }
