"""What is computed with linear systems of arrays on a device, in the tests of a GPU and of one that stands in for it."""

import tessera as ts

tasks = {
    "solve": lambda a, b: ts.solve(a, b),
    "positive": lambda a, b: ts.solve(a, b, assume="positive"),
    "upper positive": lambda a, b: ts.solve(a, b, assume="positive", lower=False),
    "lower": lambda a, b: ts.triangular_solve(a, b),
    "unit upper": lambda a, b: ts.triangular_solve(a, b, lower=False, unit_diagonal=True),
    "least squares": lambda a, b: ts.least_squares(a, b),
    "inverse": lambda a, b: ts.inverse(a),
    "cholesky": lambda a, b: ts.cholesky(a),
    "upper cholesky": lambda a, b: ts.cholesky(a, lower=False),
    "r": lambda a, b: ts.qr(a, mode="r"),
}
