#!/bin/sh
# Records on a GPU when the warps of a block load, wait, multiply and store, for the pages of the ladder.
#
#     record.sh BUILD OUT [KERNEL...]    without a KERNEL: all kernels of marks.toml
#
# BUILD has the target tessera_timeline: timeline/libtessera_cuda.so, or that file packed by gzip, and
# timeline/tessera_timeline_record, beside lib/libtessera.so. OUT gets MACHINE-timeline-KERNEL.json, which go into
# docs/results; `make_ladder.py` makes the pages again.
set -eu
if [ $# -lt 2 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0"
  exit 2
fi
folder=$(cd "$1" && pwd)/timeline
out=$2
shift 2
mkdir -p "$out"
# Of a packed one the file from an earlier call may be older.
if [ -f "$folder/libtessera_cuda.so.gz" ]; then
  gzip -dkf "$folder/libtessera_cuda.so.gz"
fi
TESSERA_PLUGIN_PATH=$folder exec "$folder/tessera_timeline_record" "$folder" "$out" "$@"
