#!/bin/sh
# with_processor_flag.sh FLAG COMMAND...: runs the command where the processor has the flag of /proc/cpuinfo; else it is
# skipped, with the status 77.
flag=$1
shift
grep -qw "$flag" /proc/cpuinfo && exec "$@"
echo "SKIPPED: the processor has no $flag"
exit 77
