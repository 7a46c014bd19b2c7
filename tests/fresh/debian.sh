#!/bin/sh
# The README's commands as a new user gives them: on a bare Debian 12 with git, this commit in a folder whose path has a
# space and a `src` in it, once as a user with sudo and once as root. It needs root, mmdebstrap and the network;
# it is skipped, with 77, without the first two. It takes an hour on two cores, and 6 GB below TMPDIR. Options:
#
#   --only root|user   one of the two machines
#   --no-clang         without clang; else the user's machine gets clang 16 between the commands
#   --keep             leaves the machines where they are, and says where
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
logs=$root/build/fresh

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*" >&2; exit 2; }

# --- inside: in namespaces of its own, so that no mount and no process is left --------------------------------------

# step NAME COMMAND...: runs it, keeps what it prints in a log and its time and status for the table.
step() {
  name=$1
  shift
  log=$logs/$(echo "$name" | tr -c 'a-zA-Z0-9\n' -).log
  say "$name ..."
  start=$(date +%s)
  rc=0
  "$@" >"$log" 2>&1 </dev/null || rc=$?
  printf '%-34s %6d s   rc %d\n' "$name" $(($(date +%s) - start)) $rc >>"$logs/table"
  say "$name: rc $rc, $(($(date +%s) - start)) s"
  [ $rc = 0 ] || { tail -n 40 "$log"; touch "$logs/failed"; }
  return $rc
}

# The host's mirrors of Debian 12 where it has some.
make_base() {
  mirrors=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' 'Origin: Debian' \
    'Component: main' 2>/dev/null | grep ' bookworm' | sort -u) ||
    mirrors='deb http://deb.debian.org/debian bookworm main'
  {
    apt-config dump | grep -E '^Acquire::https?::Proxy ' || :
    [ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
    [ -z "${https_proxy:-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
  } >"$work/apt.conf"
  echo "$mirrors" |
    mmdebstrap --variant=minbase --include=git,ca-certificates --aptopt="$work/apt.conf" bookworm "$work/base" -
}

# The kernel's folders, and what reaching the network takes on the host.
make_machine() {
  cp -a "$work/base" "$machine"
  mount -t proc proc "$machine/proc"
  mount -t sysfs -o ro sysfs "$machine/sys"
  mount -t tmpfs -o mode=755 tmpfs "$machine/dev"
  for node in null zero full random urandom tty; do
    : >"$machine/dev/$node"
    mount --bind "/dev/$node" "$machine/dev/$node"
  done
  mkdir "$machine/dev/shm" "$machine/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$machine/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$machine/dev/pts"
  ln -s pts/ptmx "$machine/dev/ptmx"
  ln -s /proc/self/fd "$machine/dev/fd"
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt \
    "${SSL_CERT_FILE:-}" "${PIP_CERT:-}" "${REQUESTS_CA_BUNDLE:-}"; do
    [ -f "$file" ] || continue
    mkdir -p "$machine$(dirname "$file")"
    cat "$file" >"$machine$file"
  done
  cp "$work/tessera.bundle" "$machine/srv"
  inside_as root 'apt-get update -q'
  [ "$account" = root ] || inside_as root "apt-get install -qy --no-install-recommends sudo &&
    useradd --create-home --shell /bin/sh $account && echo '$account ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$account"
  inside_as "$account" 'mkdir "my src" && git clone -q /srv/tessera.bundle "my src/tessera"'
}

# inside_as ACCOUNT COMMANDS: runs them in the machine, in the account's home, with nothing of this environment but what
# concerns the network.
inside_as() (
  commands="cd && $2"
  home=/root
  [ "$1" = root ] || home=/home/$1
  set -- --userspec="$1" "$machine" env -i HOME=$home USER="$1" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  names='PIP_[A-Z_]*|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|(https?|no)_proxy|(HTTPS?|NO)_PROXY'
  for name in $(env | sed -nE "s/^($names)=.*/\\1/p"); do
    set -- "$@" "$name=$(printenv "$name")"
  done
  exec chroot "$@" sh -c "$commands"
)

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
  step "mmdebstrap" make_base || exit 1
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
[ "$(id -u)" = 0 ] || skip "a bare Debian is made by root"
for tool in mmdebstrap unshare; do command -v $tool >/dev/null || skip "$tool is not installed"; done
[ -z "$(git -C "$root" status --porcelain)" ] || fail "$root has changes that are not committed; this tests the commit"

rm -rf "$logs"
mkdir -p "$logs"
work=$(mktemp -d "${TMPDIR:-/tmp}/tessera-fresh.XXXXXX")
chmod 755 "$work"
clean_up() {
  [ -z "${inside:-}" ] || { kill -KILL "$inside" && wait "$inside"; } 2>/dev/null || :
  if [ $keep = yes ]; then echo "machines: $work"; else rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

git -C "$root" bundle create -q "$work/tessera.bundle" HEAD
say "commit $(git -C "$root" rev-parse --short HEAD); logs: $logs"
unshare --mount --propagation private --pid --fork --kill-child sh "$0" --inside "$work" "$accounts" $clang &
inside=$!
rc=0
wait $inside || rc=$?
inside=
echo
cat "$logs/table"
[ $rc = 0 ] && [ ! -e "$logs/failed" ]
