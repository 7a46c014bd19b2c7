#!/bin/sh
# The commands of ./tessera as a new user gives them: on a bare Debian 12 with git, this commit in a folder whose path has
# a space, a quote and a `src` in it, once as a user with sudo and once as root. The second machine gets what the first one
# has compiled (ccache). It needs mmdebstrap, root and the network; where no bare Debian can be made, the commands run on
# this system, with an empty home and such a path. It takes half an hour on two cores, and 8 GB below TMPDIR. Each line of
# the table at the end has a command, its time, the longest time without a line, its status, and what it installed.
# Options:
#
#   --only root|user   one of the two machines
#   --commands WORDS   some of the commands, as in "compare test"; test-build is a test that builds all and runs a few
#   --compiled FOLDER  ccache's, if it is there, for the first machine too: no file is compiled again that is equal, as
#                      are all headers that it includes
#   --keep             leaves the machines where they are, and says where
set -eu

script=$0
. "$(dirname "$0")/machine.sh"

folder="it's my src" # of the clone, below /srv on a machine: compiled files of two clones are equal if their paths are
commands="compare test docs wheel deb"

# command_line NAME: what the user types.
command_line() {
  case $1 in
    wheel | deb) echo "./tessera $1 ../$1" ;;
    test-build) echo "./tessera test -R '^(unit|readme|start|cmake|install$)'" ;;
    *) echo "./tessera $1" ;;
  esac
}

# run_commands ACCOUNT RUN...: gives each command by `RUN COMMAND-LINE`. What follows a failure is seen all the same.
run_commands() {
  account=$1
  shift
  for name in $commands; do
    step "$account: ./tessera $name" "$@" "$(command_line "$name")" || :
    case $name in
      compare) sed -n '/^ *backend /,$p' "$log" | head -n 60 ;;
      test*) grep -E '^ *[0-9]+ s  |tests passed|^\s+[0-9]+ - .*\(' "$log" || : ;;
    esac
  done
}

# --- inside ---------------------------------------------------------------------------------------------------------

# make_machine: with the account and a clone.
make_machine() {
  start_machine
  cp "$work/tessera.bundle" "$machine/srv"
  [ "$account" = root ] || inside_as root "apt-get install -qy --no-install-recommends sudo &&
    useradd --create-home --shell /bin/sh $account && echo '$account ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$account"
  inside_as root "mkdir \"/srv/$folder\" && chown $account \"/srv/$folder\""
  inside_as "$account" "git clone -q /srv/tessera.bundle \"/srv/$folder/tessera\""
  [ ! -d "$work/ccache" ] || {
    mkdir -p "$machine$home/.cache"
    cp -r "$work/ccache" "$machine$home/.cache/ccache"
    inside_as root "chown -R $account $home/.cache"
  }
}

in_clone() { inside_as "$account" "cd \"/srv/$folder/tessera\" && $1"; }

# all_commands ACCOUNT: on a machine of the account's own.
all_commands() {
  account=$1
  machine=$work/$account
  home=/root
  [ "$account" = root ] || home=/home/$account
  step "$account: a bare Debian, a clone" make_machine || return 0
  run_commands "$account" in_clone
  [ ! -d "$machine$home/.cache/ccache" ] || { rm -rf "$work/ccache" && cp -r "$machine$home/.cache/ccache" "$work/ccache"; }
}

if [ "${1:-}" = --inside ]; then
  work=$2 accounts=$3 commands=$4
  step "mmdebstrap" make_base git,ca-certificates || exit 1
  for account in $accounts; do
    all_commands "$account"
  done
  exit 0
fi

# --- outside --------------------------------------------------------------------------------------------------------

# on_this_system COMMAND-LINE: with an empty home, and nothing of this environment but what concerns the network.
on_this_system() (
  cd "$work/$folder/tessera"
  set -- "$1" env -i HOME="$work/home" LANG=C.UTF-8 PATH="$PATH"
  for name in $(network_variables); do set -- "$@" "$name=$(printenv "$name")"; done
  line=$1
  shift
  exec "$@" sh -c "$line"
)

accounts="user root" keep=no compiled=
while [ $# -gt 0 ]; do
  case $1 in
    --only) accounts=${2:?--only needs root or user} && shift ;;
    --commands) commands=${2:?--commands needs words as in "compare test"} && shift ;;
    --compiled) compiled=${2:?--compiled needs a folder of ccache} && shift ;;
    --keep) keep=yes ;;
    *) fail "unknown option $1; see the head of $0" ;;
  esac
  shift
done
case $accounts in root | user | "user root") ;; *) fail "--only takes root or user, not $accounts" ;; esac
[ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || fail "$root has changes that are not committed; this tests the commit"

prepare
[ ! -d "$compiled" ] || cp -r "$compiled" "$work/ccache"
say "commit $(git -C "$root" rev-parse --short HEAD); logs: $logs"
if no_machines; then
  say "on this system, because no bare Debian can be made: $why_not"
  mkdir -p "$work/home/.cache" "$work/$folder"
  [ ! -d "$work/ccache" ] || mv "$work/ccache" "$work/home/.cache/ccache"
  git clone -q "$root" "$work/$folder/tessera"
  run_commands "an empty home" on_this_system
  cat "$logs/table"
  [ ! -e "$logs/failed" ]
else
  git -C "$root" bundle create -q "$work/tessera.bundle" HEAD
  run_inside "$work" "$accounts" "$commands"
fi
