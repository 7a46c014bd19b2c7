# Functions that make a bare Debian 12 and run commands in it, for the scripts beside this one, which source it. The
# script is called a second time, with --inside, in namespaces of its own, so that no mount and no process is left.
#
# Set before: `script`, its path. Set here: `root`, the checkout; `logs`, one file for each step, and the table of steps.

root=$(cd "$(dirname "$script")/../.." && pwd)
logs=$root/build/fresh/$(basename "$script" .sh)

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*" >&2; exit 2; }

# --- inside ---------------------------------------------------------------------------------------------------------

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

# make_base PACKAGES: a bare Debian 12 with these packages, in $work/base; from the host's mirrors where it has some.
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
    mmdebstrap --variant=minbase --include="$1" --aptopt="$work/apt.conf" bookworm "$work/base" -
}

# start_machine: a copy of the base in $machine, with the kernel's folders and what reaching the network takes on the
# host.
start_machine() {
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
  inside_as root 'apt-get update -q'
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

# --- outside --------------------------------------------------------------------------------------------------------

need_machines() {
  [ "$(id -u)" = 0 ] || skip "a bare Debian is made by root"
  for tool in mmdebstrap unshare; do command -v $tool >/dev/null || skip "$tool is not installed"; done
}

# prepare: sets `work`, a folder for the machines, which is removed at the end unless `keep` is yes.
prepare() {
  rm -rf "$logs"
  mkdir -p "$logs"
  work=$(mktemp -d "${TMPDIR:-/tmp}/tessera-fresh.XXXXXX")
  chmod 755 "$work"
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
}
clean_up() {
  [ -z "${inside:-}" ] || { kill -KILL "$inside" && wait "$inside"; } 2>/dev/null || :
  if [ $keep = yes ]; then echo "machines: $work"; else rm -rf "$work"; fi
}

# run_inside ARGUMENTS...: the script with --inside and these; then the table. The status is 0 where every step's was.
run_inside() {
  unshare --mount --propagation private --pid --fork --kill-child sh "$script" --inside "$@" &
  inside=$!
  rc=0
  wait $inside || rc=$?
  inside=
  echo
  cat "$logs/table"
  [ $rc = 0 ] && [ ! -e "$logs/failed" ]
}
