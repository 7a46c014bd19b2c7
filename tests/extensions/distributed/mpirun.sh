#!/bin/sh
# Starts a program on several ranks: mpirun.sh <openmpi|mpich> <mpirun> [--survive] <ranks> <program> [argument...]
# More ranks than cores are allowed, and Open MPI is told that the tests may run as root where they do. With --survive
# Open MPI lets the other ranks go on where one is killed; MPICH's mpirun and UCX end them now and then.
mpi=$1 mpirun=$2
shift 2
survive=
if [ "$1" = --survive ]; then
  [ "$mpi" != openmpi ] || survive=--enable-recovery
  shift
fi
ranks=$1
shift
case $mpi in
  openmpi)
    root=
    [ "$(id -u)" -ne 0 ] || root=--allow-run-as-root
    exec "$mpirun" $root --oversubscribe --bind-to none $survive -n "$ranks" "$@" ;;
  *) exec "$mpirun" -n "$ranks" "$@" ;;
esac
