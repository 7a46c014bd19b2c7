#!/bin/sh
# mounted.sh GEMM_COMPARE GEMM_BENCH TESSERA_INFO: files that are mounted by themselves, as containers have them, and to
# which no file can be renamed. Every report and product arrives in them, or is refused before the work begins. Status 77
# (skipped) where this user may not mount.
if [ "$MOUNTED_SH_INSIDE" != yes ]; then
  unshare -m sh -c 'mount --make-rprivate /' 2> /dev/null || {
    echo 'SKIPPED: this user has no mounts of their own (unshare -m)'
    exit 77
  }
  MOUNTED_SH_INSIDE=yes exec unshare -m sh -c 'mount --make-rprivate / && exec sh "$@"' sh "$0" "$@"
fi
compare=$1 bench=$2 info=$3
folder=$(mktemp -d) || exit 1
cd "$folder" || exit 1
mkdir host inside
failures=0
wrong() {
  echo "$1"
  failures=$((failures + 1))
}
# Makes a mounted file inside/NAME of the host's host/NAME.
mounted() {
  echo 'old contents' > "host/$1"
  : > "inside/$1"
  mount --bind "host/$1" "inside/$1" || exit 1
}
# arrives NAME COMMAND...: the command's result arrives in host/NAME.
arrives() {
  name=$1
  shift
  mounted "$name"
  "$@" > out 2>&1 || wrong "$*: exit status $?: $(cat out)"
  { [ -s "host/$name" ] && ! grep -q '^old contents' "host/$name"; } || wrong "$*: nothing arrived in $name"
}

printf '\223NUMPY\001\000v\000%-117s\n\000\000\000@' \
  "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }" > a.npy
for option in json csv html markdown; do
  arrives "r.$option" "$compare" --backend reference --kernels gold --sizes 8 --repeat 1 --$option "inside/r.$option"
done
arrives c.npy "$compare" --backend reference --a a.npy --b a.npy --out inside/c.npy
arrives i.json "$info" --no-kernels --json inside/i.json
arrives e.json "$bench" executors --executors reference --shapes 8x8x8 --rounds 1 --json inside/e.json
"$compare" --backend reference --kernels gold --sizes 8 --repeat 1 --json r.json > out 2>&1 || wrong "$(cat out)"
arrives later.html "$compare" --report r.json --html inside/later.html

mounted d.npy
"$compare" --a a.npy --b a.npy --out inside/d.npy --memory-limit 32MiB > out 2>&1
[ $? = 2 ] && grep -q 'mount point' out || wrong "--memory-limit onto a mount point: $(cat out)"
grep -q '^old contents' host/d.npy || wrong '--memory-limit onto a mount point: the old contents are lost'
leftovers=$(ls -A host inside | grep tessera)
[ -z "$leftovers" ] || wrong "left behind: $leftovers"
cd /
rm -rf --one-file-system "$folder" 2> /dev/null
[ $failures -eq 0 ]
