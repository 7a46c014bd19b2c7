#!/bin/sh
# Tests that a program has the options that its manual page names, and that the page can be read without a warning.
# Usage: manual.sh PROGRAM PAGE
set -eu

program=$1
page=$2
help=$("$program" --help)
options=$(grep -Ev '^\.\\"' "$page" | sed 's/\\-/-/g' | grep -o -- '--[a-z-]*' | sort -u)
[ -n "$options" ] || { echo "$page names no option"; exit 1; }
for option in $options; do
  case "$help " in
    *"$option"[!a-z-]*) ;;
    *) echo "$page names $option, which $program --help does not"; exit 1 ;;
  esac
done
if command -v groff >/dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
  [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
echo "$(echo "$options" | wc -l) options of $page exist"
