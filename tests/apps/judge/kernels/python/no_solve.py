"""Does not define solve()."""


def multiply(a, b, c):
    c[...] = a @ b
