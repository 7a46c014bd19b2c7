# Refuses a mistyped argument before anything is installed or built. ./tessera sources this file. Set before: `root`.

# options_of PROGRAM: its options, one a line, from its manual page, which has an entry for each: tests/apps/cli/manual.sh
# compares the page with --help.
options_of() {
  sed -n '/^\.TP$/{n;s/^\.BI\{0,1\} \(\\-[^ ]*\).*/\1/p;}' "$root/apps/$1/$1.1" | tr -d '\\'
}

# nearest WORD: the line of standard input that is at most two letters away from the word, if there is one.
nearest() {
  awk -v word="$1" '
    function distance(a, b,  i, j, d, cost, least) {
      for (i = 0; i <= length(a); ++i) d[i, 0] = i
      for (j = 0; j <= length(b); ++j) d[0, j] = j
      for (i = 1; i <= length(a); ++i) for (j = 1; j <= length(b); ++j) {
        cost = substr(a, i, 1) != substr(b, j, 1)
        least = d[i - 1, j - 1] + cost
        if (d[i - 1, j] + 1 < least) least = d[i - 1, j] + 1
        if (d[i, j - 1] + 1 < least) least = d[i, j - 1] + 1
        if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1) &&
            d[i - 2, j - 2] + 1 < least) least = d[i - 2, j - 2] + 1 # letters that changed places
        d[i, j] = least
      }
      return d[length(a), length(b)]
    }
    BEGIN { best = 3 }
    { here = distance(word, $0); if (here < best) { best = here; found = $0 } }
    END { if (found != "") print found }'
}

# refuse_unknown WORD KIND: stops; standard input has the words that are known.
refuse_unknown() {
  near=$(nearest "$1")
  fail "unknown $2 '$1'${near:+; did you mean '$near'?}"
}

# check_options PROGRAM ARGUMENT...: stops at an option that the program does not have.
check_options() {
  program=$1
  shift
  known=$(options_of "$program")
  for argument; do
    case $argument in
      --help) continue ;;
      --?*) option=${argument%%=*} ;;
      *) continue ;;
    esac
    printf '%s\n' "$known" | grep -qxF -e "$option" ||
      printf '%s\n' "$known" | refuse_unknown "$option" "option of $program" || exit
  done
}
