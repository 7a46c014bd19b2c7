# The checks: what a user runs (./tessera test) and what a contributor runs (./tessera check). ./tessera sources this file.
# Set before: `root`.

# --- phases ---------------------------------------------------------------------------------------------------------

failed=
stopped=
report=

# phase NAME COMMAND...: runs it, keeps its time, and remembers a failure. The status 77 says that it was skipped, and 75
# that the time was over.
phase() {
  name=$1
  shift
  say "$name"
  start=$(date +%s)
  rc=0
  "$@" || rc=$?
  case $rc in
    0) verdict=ok ;;
    77) verdict=skip ;;
    75) verdict=stop stopped="$stopped $name;" ;;
    *) verdict=FAILED; failed="$failed $name;" ;;
  esac
  report="$report$(printf '%6d s  %-6s  %s' $(($(date +%s) - start)) "$verdict" "$name")
"
}

# phase_of_build NAME COMMAND...: a phase that needs what the last build phase should have made.
phase_of_build() {
  case $failed in
    *build*) report="$report     0 s  skip    $1: the build failed
" ;;
    *) phase "$@" ;;
  esac
}

finish_checks() {
  printf '\n%s' "$report"
  [ -z "$failed" ] || { say "failed:$failed"; exit 1; }
  say "$1"
}

# run_tests [OPTION...]: the tests of what was configured last that its test preset names, or that CTest's options
# choose, without what is for runs of everything alone. Tests that wait for a time limit or a child leave the processors
# to others.
run_tests() {
  [ -n "${TESSERA_TEST_ALL:-}" ] || set -- --label-exclude '^everything$' "$@"
  with_progress "tests" in_root ctest --preset "$preset" -j $((2 * $(nproc))) "$@"
}

# --- a user's test --------------------------------------------------------------------------------------------------

# test_this_machine [CTEST-OPTION...]: a release build of what this machine can run, and its tests; then the core alone,
# unless the options choose tests.
test_this_machine() {
  choose_device_code test
  # shellcheck disable=SC2086  # one word an option
  configure test "-DTESSERA_WERROR=$(warnings_as_errors)" $device_options
  phase "build" compile
  phase_of_build "tests" run_tests "$@"
  [ $# -gt 0 ] || test_core_alone
  finish_checks "all tests passed"
}

# The core is a library without the extensions and the bindings. The build before has compiled
# most of its files with equal options, and ccache keeps them.
test_core_alone() {
  configure core "-DTESSERA_WERROR=$(warnings_as_errors)"
  phase "build of the core alone" compile
  phase_of_build "tests of the core alone" run_tests
}

# --- a contributor's checks -----------------------------------------------------------------------------------------

sources() { # sources SUFFIX...: every file of ours that ends so
  for suffix; do
    find "$root/include" "$root/src" "$root/backends" "$root/apps" "$root/tests" -name "*.$suffix" -type f
  done | sort
}

# with_lines COMMAND...: runs it with the lines of standard input as further arguments; a path may have spaces.
with_lines() { xargs -d '\n' -r "$@"; }

check_format() { "$1" h c hpp cpp cuh cu | with_lines clang-format --dry-run --Werror; }

check_house() { python3 "$root/tests/house/check_house.py" "$root"; }

# What clang notices only in a file that is not joined: using-declarations and constants that nothing uses.
check_used() {
  sources cpp | with_lines awk '
    function finish() { for (name in line) if (uses[name] < 2) { print file ":" line[name] ": nothing uses " name; bad = 1 } }
    FNR == 1 { finish(); split("", line); split("", uses); file = FILENAME }
    /^using [a-zA-Z_0-9]*::[a-zA-Z_0-9:]*;/ || /^constexpr [^(={;]*[={;]/ {
      name = $0; sub(/[={;].*/, "", name); sub(/(\[.*)? *$/, "", name); sub(/.*[^a-zA-Z_0-9]/, "", name)
      line[name] = FNR
    }
    { n = split($0, word, /[^a-zA-Z_0-9]+/); for (i = 1; i <= n; ++i) ++uses[word[i]] }
    END { finish(); exit bad }' >&2
}

# tidy FOLDER [WORD...]: reads the files that standard input names, as FOLDER's commands compile them; the words come
# before xargs. clang-tidy comes without an omp.h: last of all folders it gets the compiler's, and no arguments of an
# attribute there that clang has without.
tidy() {
  commands_of=$1
  shift
  "$@" xargs -d '\n' -r -P "$(nproc)" -n 1 clang-tidy --quiet --warnings-as-errors='*' -p "$commands_of" \
    --extra-arg="-idirafter$(${CXX:-c++} -print-file-name=include)" --extra-arg='-D__malloc__(x)=__malloc__'
}

# Our programs and tests have the compiler's warnings and the sanitizers; to tidy them as well would take as long as to
# build everything.
check_tidy() {
  check_used || return 1
  python3 "$root/cmake/join_sources.py" "$root" "$build" "$build/tidy" || return 1
  find "$build/tidy" -name '*.cpp' | sort -V | tidy "$build/tidy"
}

# compiles_openmp COMPILER: whether it can compile and link an OpenMP program. Clang's OpenMP is a package of its own.
compiles_openmp() {
  mkdir -p "$root/build"
  printf '#include <omp.h>\nint main() { return omp_get_max_threads() == 0; }\n' |
    "$1" -x c++ -fopenmp -o "$root/build/compiles-openmp" - 2>/dev/null
}

# Sets `clang` to the newest clang from 16 on that has OpenMP, as clang++ or as Debian's clang++-N; or to nothing, and
# `why_not` to the reason.
find_clang() {
  why_not="no clang++ of 16 or later is installed"
  for clang in clang++ $(seq -f 'clang++-%.0f' 40 -1 16); do
    version=$("$clang" -dumpversion 2>/dev/null) || continue
    version=${version%%.*}
    [ "$version" -ge 16 ] || continue
    ! compiles_openmp "$clang" || return 0
    why_not="$clang cannot compile an OpenMP program (Debian package libomp-$version-dev)"
  done
  clang=
}

# The other compiler that the README promises, on the processor's part. It is not among the packages that are installed:
# it would bring 600 MB.
check_with_clang() {
  find_clang
  if [ -z "$clang" ]; then
    report="$report     0 s  skip    build and tests with clang: $why_not
"
    say "build and tests with clang are skipped: $why_not"
    return 0
  fi
  configure clang "-DCMAKE_CXX_COMPILER=$clang" "-DCMAKE_C_COMPILER=$(echo "$clang" | sed 's/clang++/clang/')"
  phase "build with $clang, warnings as errors" compile
  phase_of_build "tests of the build with $clang" run_tests
}

# The presets compile device code for Hopper where nvcc is, with or without a GPU.
choose_checked_device_code() {
  if [ -z "${TESSERA_CUDA_ARCHITECTURES:-}" ] && path_is_not_for_nvcc; then
    leave_out "$why_not"
    export TESSERA_CUDA_ARCHITECTURES=none
  fi
}

# configure_check_build HOW-MUCH: device code is optimised where a GPU is, and for a run of everything, which wants the
# optimiser's remarks on it.
configure_check_build() {
  if [ "$1" = all ] || [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then
    set -- -DTESSERA_OPTIMIZE_DEVICE_CODE=ON
  else
    set --
  fi
  [ ! -d "$python_environment" ] || set -- "$@" "-DPython_EXECUTABLE=$python_environment/bin/python"
  configure check "$@"
}

# check_with_sanitizers [all]: what the presets name of the build and of the tests, or all.
check_with_sanitizers() {
  configure sanitizers
  if [ "$1" = all ]; then
    phase "build for ASan and UBSan" compile all
    phase_of_build "tests under ASan and UBSan" run_tests --tests-regex .
  else
    phase "build for ASan and UBSan" compile
    phase_of_build "tests under ASan and UBSan" run_tests
  fi
}

# In a shell of its own, because it stops where something is wrong.
check_documentation() (documentation "$root/build/docs/html")

# check_everything [all]: what a change has to pass. `all` adds what takes hours or further packages.
check_everything() {
  how_much=${1:-}
  [ "$how_much" != all ] || export TESSERA_TEST_ALL=1 # tests/support/test_all.hpp
  choose_checked_device_code
  make_python_environment
  phase "clang-format" check_format sources
  phase "house" check_house
  phase "documentation" check_documentation
  configure_check_build "$how_much"
  phase "build, warnings as errors" compile
  phase_of_build "clang-tidy" check_tidy
  phase_of_build "tests" run_tests
  check_with_clang
  check_with_sanitizers "$how_much"
  [ "$how_much" != all ] || run_long_checks
  finish_checks "all checks passed"
}

# What needs further packages, a minute for each of many inputs, or an hour.
run_long_checks() {
  configure single
  phase "build of each file by itself" compile
  phase "emulated old processors" "$root/tests/backends/conformance/old_processor.sh" "$root/build/check"
  phase "fuzzing" "$root/tests/fuzz/run.sh" "$root/build/fuzz"
  configure tsan
  phase "build for ThreadSanitizer" compile
  for backend in openmp tbb; do
    phase "threads under ThreadSanitizer, $backend" env "TESTED_BACKEND=$backend" TESSERA_NUM_THREADS=4 \
      "TSAN_OPTIONS=suppressions=$root/tests/system/processes/tsan.supp" "$build/bin/tessera_process_tests" \
      --run_test=small_stacks/every_kernel_runs
  done
  phase "threads that share operands under ThreadSanitizer" env SMALL_DEVICE=1000000 \
    "TSAN_OPTIONS=suppressions=$root/tests/system/processes/tsan.supp" "$build/bin/tessera_plugin_tests" \
    --run_test=shared_operands
  export TESSERA_CUDA_ARCHITECTURES="${TESSERA_CUDA_ARCHITECTURES:-90a-real}" # of the Debian packages too
  phase "wheels" "$root/tests/fresh/wheels.sh"
  phase "a bare Debian" "$root/tests/fresh/debian.sh"
  phase "Debian packages" "$root/tests/fresh/packages.sh"
}
