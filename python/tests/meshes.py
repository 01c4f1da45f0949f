"""What the tests share: meshes, made with NumPy alone, and calls that must fail."""

import re

import numpy as np


def square(n):
    """The unit square of n by n cells, two triangles each."""
    x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower = np.column_stack([corner, corner + n + 1, corner + n + 2])
    upper = np.column_stack([corner, corner + n + 2, corner + 1])
    return points, np.vstack([lower, upper]).astype(np.int32)


def cube(n):
    """The unit cube of n cells a side, six tetrahedra each (Kuhn's)."""
    axis = np.linspace(0, 1, n + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    steps = np.array([(n + 1) ** 2, n + 1, 1])
    corner = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)[:n, :n, :n].ravel()
    cells = []
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        walk = np.concatenate([[0], np.cumsum(steps[list(order)])])
        cells.append(corner[:, None] + walk)
    return points, np.vstack(cells).astype(np.int32)


def message_of(kind, function, *arguments, **options):
    """The message of a call that must raise such an exception: one line."""
    import pytest  # here, as machines with little else than a GPU have none

    with pytest.raises(kind) as error:
        function(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def refused(kind, words, function, *arguments, **options):
    """A call raises such an exception, and its message has what the pattern looks for."""
    text = message_of(kind, function, *arguments, **options)
    assert re.search(words, text), text
