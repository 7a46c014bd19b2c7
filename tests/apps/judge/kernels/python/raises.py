"""Raises an exception."""


def solve(a, b, c):
    raise ValueError("tiles of 32 only")
