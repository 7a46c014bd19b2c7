#!/bin/sh
# One of four ranks is killed: killed_rank.sh <openmpi|mpich> <mpirun> <program>. Each of the other three must say within
# ten seconds that it got an exception, that C is unchanged, and that the grid is not used again. MPICH's mpirun may end
# before these ranks do.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/mpirun.sh" "$1" "$2" --survive 4 "$3" killed_rank "$folder"
said() { cat "$folder"/rank* | grep -c "$1"; }
for _ in 1 2 3 4 5 6 7 8 9 10; do
  [ "$(said 'the next product failed at once')" -lt 3 ] || break
  sleep 1
done
cat "$folder"/rank*
[ "$(said 'the next product failed at once')" = 3 ] || exit 1
[ "$(said 'threw DeviceError, c is unchanged: distributed gemm')" = 3 ]
