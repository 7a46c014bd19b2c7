#!/bin/sh
# Starts a program on several ranks: mpirun.sh <openmpi|mpich> <mpirun> <ranks> <program> [argument...]
# More ranks than cores are allowed, and Open MPI is told that the tests may run as root where they do.
mpi=$1 mpirun=$2 ranks=$3
shift 3
case $mpi in
  openmpi)
    root=
    [ "$(id -u)" -ne 0 ] || root=--allow-run-as-root
    exec "$mpirun" $root --oversubscribe --bind-to none -n "$ranks" "$@" ;;
  *) exec "$mpirun" -n "$ranks" "$@" ;;
esac
