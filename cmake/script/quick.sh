# ./tessera check quick: the least that a change needs, in three minutes. quick.py has the table of which files need which
# tests. ./tessera sources this file. Set before: `root`.

quick_seconds=180

# changed_files: the files that differ from the commit before the last one, committed or not, below the root.
changed_files() {
  since=HEAD~1
  git -C "$root" rev-parse -q --verify $since >/dev/null || since=HEAD
  { git -C "$root" diff --name-only $since && git -C "$root" ls-files --others --exclude-standard; } | sort -u
}

# changed_sources SUFFIX...: the sources among them that are still there.
changed_sources() {
  changed_files | while IFS= read -r file; do
    for suffix; do
      case $file in
        include/*."$suffix" | src/*."$suffix" | backends/*."$suffix" | apps/*."$suffix" | tests/*."$suffix")
          [ ! -f "$root/$file" ] || printf '%s\n' "$root/$file"
          ;;
      esac
    done
  done
}

seconds_left() { echo $((quick_end - $(date +%s))); }

quick() { python3 "$root/cmake/script/quick.py" "$@"; }

# compile_in_time [TARGET...]: these targets of what was configured last. Where the time is over it says how many steps
# are left; what is compiled stays, and the next run goes on from there.
compile_in_time() {
  rc=0
  NINJA_STATUS=$ninja_status with_progress "compiling" quick within "$(seconds_left)" ninja -C "$build" "$@" || rc=$?
  [ $rc -ne 75 ] || say "the time is over:" \
    "$(ninja -n -C "$build" "$@" | sed -n '$s|^\[[0-9]*/\([0-9]*\)\].*|\1 steps of the build are left; run it again to go on|p')"
  return $rc
}

tests_in_time() { with_progress "tests" quick tests "$(seconds_left)" "$build" "$@"; }

# The changed files of the library and the backends, each by itself.
tidy_in_time() {
  check_used || return 1
  changed_sources cpp | grep -E "/(src|backends)/" >"$choice/tidy" || return 0
  rc=0
  tidy "$build" quick within "$(seconds_left)" <"$choice/tidy" || rc=$?
  [ $rc -ne 75 ] || say "the time is over: clang-tidy has not read all of" "$(sed "s|^$root/||" "$choice/tidy" | paste -s -d ' ' -)"
  return $rc
}

# check_core_alone: what includes a public header of the core, without the extensions, the bindings and their tests.
check_core_alone() {
  configure core "-DTESSERA_WERROR=$(warnings_as_errors)"
  phase "build of the core alone" compile_in_time all
  printf '%s\n' unit queues.reference queues.openmp conformance.reference conformance.openmp >"$choice/core-tests"
  phase_of_build "tests of the core alone" tests_in_time "$choice/core-tests"
}

# check_change: in the build folder of the whole check.
check_change() {
  choose_checked_device_code
  make_python_environment
  quick_end=$(($(date +%s) + quick_seconds))
  phase "clang-format of what changed" check_format changed_sources
  phase "house" check_house
  configure_check_build quick
  choice=$build/quick
  changed_files >"$build/changed"
  quick choose "$build" "$choice" <"$build/changed" >"$build/chosen" || fail "the tests cannot be chosen; ./tessera check has all"
  sed 's/^/tessera: /' "$build/chosen" >&2
  if [ -s "$choice/core" ]; then
    check_core_alone
    configure_check_build quick
  fi
  # shellcheck disable=SC2046  # one word a target
  [ ! -s "$choice/targets" ] || phase "build of what changed" compile_in_time $(cat "$choice/targets")
  phase_of_build "tests of what changed" tests_in_time "$choice/tests" "$choice/slow"
  phase_of_build "clang-tidy of what changed" tidy_in_time
  [ -z "$stopped" ] || say "the time of $quick_seconds s was over before the end of:$stopped"
  finish_checks "nothing that ran has failed; ./tessera check has the rest"
}
