"""Is honest: it returns the product instead of writing it into c."""


def solve(a, b, c):
    return a @ b
