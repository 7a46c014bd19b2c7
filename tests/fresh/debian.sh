#!/bin/sh
# The README's commands as a new user gives them: on a bare Debian 12 with git, this commit in a folder whose path has a
# space and a `src` in it, once as a user with sudo and once as root. It needs root, mmdebstrap and the network;
# it is skipped, with 77, without the first two. It takes an hour on two cores, and 6 GB below TMPDIR. Options:
#
#   --only root|user   one of the two machines
#   --no-clang         without clang; else the user's machine gets clang 16 between the commands
#   --keep             leaves the machines where they are, and says where
set -eu

script=$0
. "$(dirname "$0")/machine.sh"

# --- inside ---------------------------------------------------------------------------------------------------------

# make_machine: with the account and a clone.
make_machine() {
  start_machine
  cp "$work/tessera.bundle" "$machine/srv"
  [ "$account" = root ] || inside_as root "apt-get install -qy --no-install-recommends sudo &&
    useradd --create-home --shell /bin/sh $account && echo '$account ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$account"
  inside_as "$account" 'mkdir "my src" && git clone -q /srv/tessera.bundle "my src/tessera"'
}

# all_commands ACCOUNT: on a machine of the account's own. What follows a failure of `compare` is seen all the same.
all_commands() {
  account=$1
  machine=$work/$account
  step "$account: a bare Debian, a clone" make_machine || return 0
  step "$account: ./tessera compare" inside_as "$account" 'cd "my src/tessera" && ./tessera compare' || :
  step "$account: ./tessera docs" inside_as "$account" 'cd "my src/tessera" && ./tessera docs' || :
  if [ "$account" = user ] && [ "$clang" = yes ]; then
    step "$account: clang 16" inside_as root 'apt-get install -qy --no-install-recommends clang-16 libomp-16-dev' || :
  fi
  step "$account: ./tessera test" inside_as "$account" 'cd "my src/tessera" && ./tessera test' || :
  # The phases, and which tests did not run.
  grep -E '^ *[0-9]+ s  |^tessera: .*skipped|^tessera: tests|^\s+[0-9]+ - .*\(' "$log" || :
}

if [ "${1:-}" = --inside ]; then
  work=$2 accounts=$3 clang=$4
  step "mmdebstrap" make_base git,ca-certificates || exit 1
  for account in $accounts; do all_commands "$account"; done
  exit 0
fi

# --- outside --------------------------------------------------------------------------------------------------------

accounts="user root" clang=yes keep=no
while [ $# -gt 0 ]; do
  case $1 in
    --only) accounts=${2:?--only needs root or user} && shift ;;
    --no-clang) clang=no ;;
    --keep) keep=yes ;;
    *) fail "unknown option $1; see the head of $0" ;;
  esac
  shift
done
case $accounts in root | user | "user root") ;; *) fail "--only takes root or user, not $accounts" ;; esac
need_machines
[ -z "$(git -C "$root" status --porcelain)" ] || fail "$root has changes that are not committed; this tests the commit"

prepare
git -C "$root" bundle create -q "$work/tessera.bundle" HEAD
say "commit $(git -C "$root" rev-parse --short HEAD); logs: $logs"
run_inside "$work" "$accounts" $clang
