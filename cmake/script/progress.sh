# Shows how far a command is, so that no command is silent for long. ./tessera sources this file.
#
# On a terminal one line says it and changes; in a log a line comes after eight to twelve seconds without one. All other
# lines that the command prints are passed on.

# with_progress WHAT COMMAND...: runs the command, all of whose output goes to stderr; returns its status. Ninja's lines
# become a count, a folder and an estimate: they begin with the status of `ninja_status`.
with_progress() {
  what=$1
  shift
  if [ -t 2 ]; then pace=1; else pace=4; fi
  {
    # The ticks end with the command, and where the script was ended.
    while sleep $pace && kill -0 $$; do echo "@tick"; done 2>/dev/null &
    ticker=$!
    rc=0
    "$@" </dev/null 2>&1 || rc=$?
    kill $ticker 2>/dev/null || :
    echo "@done $rc"
  } | show_progress "$what" >&2
}

# What NINJA_STATUS holds: a mark, then how many steps have ended, how many there are, and the seconds since the start.
ninja_status='@step %f %t %e '

# show_progress WHAT: reads the lines of with_progress, and returns the status that the last one tells.
show_progress() {
  began=$(date +%s) told=$(date +%s) state= line_is_open=
  [ -t 2 ] || printf 'tessera: %s\n' "$1"
  while IFS= read -r line; do
    case $line in
      "@done "*)
        close_line
        return "${line#@done }"
        ;;
      "@tick") tell_state "$1" ;;
      "ninja: Entering directory"* | "ninja: no work to do." | "-- "*) ;; # CMake's lines are in configure.log
      "@step "*) read_step "${line#@step }" ;;
      *)
        close_line
        printf '%s\n' "$line"
        told=$(date +%s)
        ;;
    esac
  done
  return 1
}

# read_step 'ENDED ALL SECONDS WHAT-NINJA-SAYS': sets `state`, e.g. "120 of 330, tests/core/unit, about 45 s left".
read_step() {
  ended=${1%% *} rest=${1#* }
  all=${rest%% *} rest=${rest#* }
  seconds=${rest%%.*} rest=${rest#* }
  folder=
  case $rest in
    *" object "*/CMakeFiles/*) folder=${rest##* object } folder=", ${folder%%/CMakeFiles/*}" ;;
    *Linking*) folder=", linking" ;;
  esac
  left= # the first steps are no measure of the others
  [ $((ended * 10)) -lt "$all" ] || left=", about $(((all - ended) * seconds / ended)) s left"
  state="$ended of $all$folder$left"
}

# tell_state WHAT: on a terminal each time, in a log where nothing was said for eight seconds.
tell_state() {
  now=$(date +%s)
  text="tessera: $1: ${state:-$((now - began)) s so far}"
  if [ -t 2 ]; then
    printf '\r%.79s\033[K' "$text"
    line_is_open=yes
  elif [ $((now - told)) -ge 8 ]; then
    printf '%s\n' "$text"
    told=$now
  fi
}

close_line() {
  [ -z "$line_is_open" ] || printf '\r\033[K'
  line_is_open=
}
