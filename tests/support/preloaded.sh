#!/bin/sh
# Runs a program with libraries in front of its own: preloaded.sh "LIBRARY[:LIBRARY...]" PROGRAM [ARGUMENT...]
# LD_PRELOAD gets the libraries' names without their folders: a path there ends at a space, one in LD_LIBRARY_PATH does
# not. Without a library the program runs as it is.
set -eu

libraries=$1
shift
names= folders=
while [ -n "$libraries" ]; do
  library=${libraries%%:*}
  case $libraries in *:*) libraries=${libraries#*:} ;; *) libraries= ;; esac
  names=$names${names:+:}${library##*/}
  folders=$folders${library%/*}:
done
[ -z "$names" ] || export LD_PRELOAD="$names" LD_LIBRARY_PATH="$folders${LD_LIBRARY_PATH:-}"
exec "$@"
