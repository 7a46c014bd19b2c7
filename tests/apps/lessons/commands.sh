#!/bin/sh
# What a learner sees of ./tessera learn: lists, folders, progress, and a sentence for each wrong input.
#
#     commands.sh TESSERA_LEARN
set -eu

learn=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_STATE_HOME="$work/state"
failures=0

# expect STATUS 'WORDS' ARGUMENTS...: the program ends with the status and says the words. `variable`, if it is set, is
# added to its environment.
variable=
expect() {
  status=$1 words=$2
  shift 2
  rc=0
  env ${variable:+"$variable"} "$learn" "$@" >"$work/said" 2>&1 || rc=$?
  if [ "$rc" != "$status" ] || ! grep -qF -e "$words" "$work/said"; then
    printf 'learn %s: status %s in place of %s, or not a word of "%s":\n' "$*" "$rc" "$status" "$words"
    cat "$work/said"
    failures=$((failures + 1))
  fi
}

# replace_body STATEMENTS: lesson cpu-02 begins anew with a right product that first does something else.
replace_body() {
  "$learn" cpu-02 >/dev/null
  cat >tessera-lessons/cpu-02/transposed.cpp <<TEXT
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include "cpu/gemm/common/row_loops.hpp"
namespace tessera::cpu {
template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x), b = strided_b(x);
  $1
  for_row_groups(cpu_of(executor), call, 1, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < x.n; ++j) {
        T sum{0};
        for (Index p = 0; p < x.k; ++p) sum += a(i, p) * b(p, j);
        store_scaled(x, sum, x.c[i * x.ldc + j]);
      }
  });
  return {};
}
} // namespace tessera::cpu
TEXT
}

expect 0 "Next: ./tessera learn cpu-02"
expect 0 "usage: ./tessera learn" --help
expect 0 "Edit $work/tessera-lessons/cpu-02/transposed.cpp" cpu-02
grep -q "docs/ladder/cpu/01_naive.md" said || { echo "the page of the course is not named"; cat said; failures=$((failures + 1)); }
expect 0 "[begun]"
expect 0 "your file stays as it is" cpu-02
expect 2 "cpu-06 (cache_blocked) or gpu-06 (shared_tile)" 06
expect 2 "did you mean 'transposed'" transpose
expect 2 "there is no lesson 'cpu-99'" cpu-99
expect 2 "one lesson at a time" cpu-02 cpu-03
expect 2 "has no option '--solve'" cpu-02 --solve
expect 2 "--check needs a lesson" --check
expect 2 "--in needs a folder" cpu-02 --in
expect 2 "./tessera learn cpu-03 makes it" cpu-03 --check
expect 2 "makes it" gpu-02 --check --in "$work/elsewhere"

# Kernels that do what no kernel should.
replace_body 'this does not compile;'
expect 1 "it does not compile: line 10: " cpu-02 --check
grep -q "transposed.cpp:10:" said || { echo "the compiler's own words are missing"; cat said; failures=$((failures + 1)); }
replace_body 'for (volatile int turn = 0;; turn = turn + 1) {}'
expect 1 "the kernel does not end" cpu-02 --check
replace_body 'exit(0);'
expect 1 "ends the whole program" cpu-02 --check
replace_body 'for (;;) { void* more = malloc(1 << 26); if (more == nullptr) abort(); for (int at = 0; at < 1 << 26; at += 4096) static_cast<volatile char*>(more)[at] = 1; }'
expect 1 "Where  whole tiles" cpu-02 --check
replace_body 'x.c[-1] = T{1};'
expect 1 "memory in front of C was written" cpu-02 --check
replace_body 'for (int line = 0; line < 1000; ++line) std::printf("line %d\n", line);'
expect 1 "  It printed:" cpu-02 --check
[ "$(wc -l <said)" -lt 40 ] || { echo "a thousand lines were shown"; failures=$((failures + 1)); }
replace_body 'for (;;) std::printf("a line that never ends\n");'
expect 1 "prints without end" cpu-02 --check
sed -i 's/Status run(/Status other(/' tessera-lessons/cpu-02/transposed.cpp
expect 1 "has to keep the function run()" cpu-02 --check
replace_body 'std::printf("before it crashes\n"); *static_cast<volatile int*>(nullptr) = 1;'
expect 1 "the kernel crashes" cpu-02 --check
grep -q "before it crashes" said || { echo "what was printed before the crash is lost"; cat said; failures=$((failures + 1)); }
expect 0 "begun, checked 9 times"

# A lesson that is passed names the next one.
"$learn" cpu-02 >/dev/null
cp "$root/backends/cpu/gemm/textbook/02_transposed.cpp" tessera-lessons/cpu-02/transposed.cpp
expect 0 "Next: ./tessera learn cpu-03" cpu-02 --check
expect 0 "[passed, "

# A lesson on factors: what it begins with, what is wrong with that, and the rung.
expect 0 "Edit $work/tessera-lessons/fac-03/cholesky_unblocked.cpp" fac-03
grep -q "docs/ladder/factors/02_substitution.md" said || { echo "no page of the course"; cat said; failures=$((failures + 1)); }
expect 1 "L(0, 0) has no root" fac-3 --check
cp "$root/apps/gemm_compare/linear_algebra/textbook/03_cholesky_unblocked.cpp" tessera-lessons/fac-03/cholesky_unblocked.cpp
expect 0 "% of the rung's speed" cholesky_unblocked --check

# Machines that lack something.
mkdir empty
variable="PATH=$work/empty"
expect 2 "there is no C++ compiler" cpu-02 --check
variable="CXX=no-such-compiler"
expect 2 "no compiler 'no-such-compiler'" cpu-02 --check
variable=
echo "no JSON" >"$XDG_STATE_HOME/tessera/lessons.json"
expect 0 "is not what this program wrote"
echo "a file" >file
expect 2 "cannot be made" cpu-03 --in file
mkdir -p taken && echo "a file" >taken/cpu-03
expect 2 "is there and is no folder" cpu-03 --in taken
if [ "$(id -u)" != 0 ]; then
  mkdir closed && chmod a-w closed
  expect 2 "cannot be made" cpu-03 --in closed/lessons
else
  expect 2 "cannot be made" cpu-03 --in /proc/lessons
  variable=XDG_STATE_HOME=/proc/none
  expect 0 "progress is not kept" cpu-03
  variable=
fi
mkdir -p "a folder's name"
expect 0 "a folder's name/gpu-02/naive_coalesced.cu" gpu-02 --in "a folder's name"

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
