#!/bin/sh
# One of four ranks is lost: lost_rank.sh <killed_rank|silent_rank> <openmpi|mpich> <mpirun> <program>. Each of the other
# three must say that it got an exception, that C is unchanged, and that the grid is not used again.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/mpirun.sh" "$2" "$3" --survive 4 "$4" "$1" "$folder"
said() { cat "$folder"/rank* | grep -c "$1"; }
cat "$folder"/rank*
[ "$(said 'the next product failed at once')" = 3 ] || exit 1
[ "$(said 'threw DeviceError, c is unchanged: distributed gemm')" = 3 ]
