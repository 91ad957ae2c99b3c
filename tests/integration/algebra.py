"""Small dense matrices as lists of rows, for what is compared with the daemon's."""
import math


def zeros(rows, cols):
    return [[0.0] * cols for _ in range(rows)]


def times(A, x):
    return [sum(a * b for a, b in zip(row, x)) for row in A]


def transposed(A, cols):
    return [[row[j] for row in A] for j in range(cols)]


def norm(x):
    return math.sqrt(sum(a * a for a in x))


def solve(A, b):
    """x of A x = b by elimination with partial pivoting."""
    n = len(b)
    rows = [list(r) + [v] for r, v in zip(A, b)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def dense(part):
    """A part of a reply as rows, or as a list."""
    if 'values' in part:
        return part['values']
    rows, cols = part['shape']
    if 'rows' in part:
        return part['rows'] if cols else [[] for _ in range(rows)]
    A = zeros(rows, cols)
    for i, j, value in part['coo']:
        A[i][j] = value
    return A
