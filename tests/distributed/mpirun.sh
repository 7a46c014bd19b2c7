#!/bin/sh
# Starts a program on several ranks: mpirun.sh <openmpi|mpich> <mpirun> [--survive] <ranks> <program> [argument...]
# More ranks than cores are allowed, and Open MPI is told that the tests may run as root where they do. With --survive
# the other ranks go on where one is killed.
mpi=$1 mpirun=$2
shift 2
survive=
if [ "$1" = --survive ]; then
  [ "$mpi" = openmpi ] && survive=--enable-recovery || survive=-disable-auto-cleanup
  shift
fi
ranks=$1
shift
case $mpi in
  openmpi)
    root=
    [ "$(id -u)" -ne 0 ] || root=--allow-run-as-root
    exec "$mpirun" $root --oversubscribe --bind-to none $survive -n "$ranks" "$@" ;;
  *) exec "$mpirun" $survive -n "$ranks" "$@" ;;
esac
