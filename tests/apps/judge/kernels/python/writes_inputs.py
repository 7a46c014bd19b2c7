"""Changes an input in place."""


def solve(a, b, c):
    c[...] = a @ b
    b += 1
