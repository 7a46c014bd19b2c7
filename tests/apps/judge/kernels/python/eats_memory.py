"""Fills memory until there is none left."""

import numpy


def solve(a, b, c):
    hoard = []
    while True:
        hoard.append(numpy.ones(8 << 20))
