#!/bin/sh
# Tests that a program's manual page has an entry for each option that --help shows and for no other one, and that the
# page can be read without a warning. An entry is a line `.TP` and a line `.B \-\-NAME` or `.BI \-\-NAME " ARGUMENT"`, for
# one option, so that a script can list them where nothing is built.
# Usage: manual.sh PROGRAM PAGE [SUBCOMMAND...]
set -eu

program=$1
page=$2
shift 2

# The options of a text of --help, which begin a line: "  -h,--help   …", "  --sizes LIST   …".
options_of_help() {
  sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n'
}

entries=$(sed -n '/^\.TP$/{n;s/^\.BI\{0,1\} \(\\-[^ ]*\).*/\1/p;}' "$page" | tr -d '\\' | sort)
twice=$(echo "$entries" | uniq -d)
[ -z "$twice" ] || { echo "$page has more than one entry for $twice"; exit 1; }
options=$({ "$program" --help; for command; do "$program" "$command" --help; done; } | options_of_help | sort -u)
[ -n "$options" ] || { echo "$program --help shows no option"; exit 1; }
failed=0
for option in $options; do
  echo "$entries" | grep -qx -e "$option" || { echo "$page has no entry for $option, which $program --help shows"; failed=1; }
done
for option in $entries; do
  echo "$options" | grep -qx -e "$option" || { echo "$page has an entry for $option, which $program --help does not show"; failed=1; }
done
# Options that the page names elsewhere, as in its examples, exist too.
for option in $(grep -Ev '^\.\\"' "$page" | sed 's/\\-/-/g' | grep -o -- '--[a-zA-Z-]*' | sort -u); do
  echo "$options" | grep -qx -e "$option" || { echo "$page names $option, which $program --help does not show"; failed=1; }
done
[ "$failed" = 0 ] || exit 1
if command -v groff >/dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
  [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
echo "$(echo "$options" | wc -l) options of $page exist"
