# Functions that make a bare Debian 12 and run commands in it, for the scripts beside this one, which source it. The
# script is called a second time, with --inside, in namespaces of its own, so that no mount and no process is left.
#
# Set before: `script`, its path. Set here: `root`, the checkout; `logs`, one file for each step, and the table of steps.

root=$(cd "$(dirname "$script")/../.." && pwd)
logs=$root/build/fresh/$(basename "$script" .sh)
package_cache=${XDG_CACHE_HOME:-$HOME/.cache}/tessera/debian-packages

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "$*" >&2; exit 2; }

# --- inside ---------------------------------------------------------------------------------------------------------

# step NAME COMMAND...: runs it, keeps what it prints in a log, and for the table its time, the longest time in which it
# printed nothing, its status, and what apt-get installed.
step() {
  name=$1
  shift
  log=$logs/$(echo "$name" | tr -c 'a-zA-Z0-9\n' -).log
  say "$name ..."
  start=$(date +%s)
  rm -f "$logs/status"
  { ("$@") 2>&1 </dev/null || echo $? >"$logs/status"; } | keep_lines >"$log" # a command may call exit
  rc=$(cat "$logs/status" 2>/dev/null || echo 0)
  printf '%-30s %5d s  silent %3d s  rc %d  %s\n' "$name" $(($(date +%s) - start)) "$(cat "$logs/silence")" "$rc" \
    "$(installed_by "$log")" >>"$logs/table"
  tail -n 1 "$logs/table"
  [ "$rc" = 0 ] || { tail -n 40 "$log"; touch "$logs/failed"; }
  return "$rc"
}

# keep_lines: hands lines on, and writes the longest time between two of them to the file `silence`.
keep_lines() {
  last=$(date +%s) longest=0
  while IFS= read -r line; do
    heard
    printf '%s\n' "$line"
  done
  heard
  echo $longest >"$logs/silence"
}
heard() {
  now=$(date +%s)
  [ $((now - last)) -le $longest ] || longest=$((now - last))
  last=$now
}

# installed_by LOG: what apt-get said in it, as in "70 packages, 401 MB".
installed_by() {
  awk '/newly installed/ { packages += $3 } /^After this operation/ { size += $4 * ($5 == "kB" ? 0.001 : 1) }
    END { if (packages) printf "packages: %d, %.0f MB", packages, size }' "$1"
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
  # What apt-get has fetched once, in this run or in an earlier one, is not fetched again.
  mkdir -p "$package_cache/partial"
  mount --bind "$package_cache" "$machine/var/cache/apt/archives"
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

# network_variables: the names of the environment's variables that concern the network.
network_variables() {
  names='PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT|PROXY|DEFAULT_TIMEOUT)|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|(https?|no)_proxy|(HTTPS?|NO)_PROXY'
  env | sed -nE "s/^($names)=.*/\\1/p"
}

# inside_as ACCOUNT COMMANDS: runs them in the machine, in the account's home, with nothing of this environment but what
# concerns the network.
inside_as() (
  commands="cd && $2"
  home=/root
  [ "$1" = root ] || home=/home/$1
  set -- --userspec="$1" "$machine" env -i HOME=$home USER="$1" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  for name in $(network_variables); do set -- "$@" "$name=$(printenv "$name")"; done
  exec chroot "$@" sh -c "$commands"
)

# --- outside --------------------------------------------------------------------------------------------------------

# no_machines: whether no bare Debian can be made here; sets `why_not`.
no_machines() {
  why_not=
  [ "$(id -u)" = 0 ] || why_not="a bare Debian is made by root"
  for tool in mmdebstrap unshare; do command -v $tool >/dev/null || why_not="$tool is not installed"; done
  [ -n "$why_not" ] || unshare --mount --pid --fork true 2>/dev/null || why_not="this system refuses name spaces"
  [ -n "$why_not" ]
}
need_machines() { ! no_machines || skip "$why_not"; }

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
