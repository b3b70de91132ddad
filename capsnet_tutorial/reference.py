"""The paper transcribed with plain loops over numbers: slow, obvious, and the oracle of the tests.

Everything here takes and returns nested lists of Python floats, so that each line is one line of
the paper and nothing hides behind a tensor operation.
"""

from math import exp, sqrt


def squash(s: list[float]) -> list[float]:
    """Shrink one vector to a length below 1 (Equation 1); a zero vector stays zero.

    Args:
        s: one vector, of any length.

    Returns:
        The vector, as long as ‖s‖²/(1 + ‖s‖²).

    Source: Sabour, Frosst and Hinton (2017), Equation 1, which leaves the value at 0 open.

    >>> squash([3.0, 4.0])  # 25/26 of (0.6, 0.8)
    [0.5769230769230769, 0.7692307692307693]
    """
    # Length: the root of the sum of squares. Nothing is divided by a length of 0.
    norm = sqrt(sum(x**2 for x in s))
    if norm == 0:
        return [0.0 for _ in s]
    # Equation 1: the new length, times the direction.
    return [norm**2 / (1 + norm**2) * x / norm for x in s]


def length(v: list[float]) -> float:
    """Measure one vector: the root of the sum of its squares.

    Args:
        v: one vector.

    >>> length([3.0, 4.0])
    5.0
    """
    return sqrt(sum(x**2 for x in v))


def dynamic_routing(
    u_hat: list[list[list[float]]], num_iterations: int = 3
) -> tuple[list[list[float]], list[list[list[float]]]]:
    """Route one image's prediction vectors `u_hat[i][j]` (Procedure 1).

    Args:
        u_hat: for each child a vector for each parent, all of the same size.
        num_iterations: how many rounds, at least 1.

    Returns:
        The parents `v[j]`, and the couplings `c[r][i][j]` of every iteration.

    Source: Sabour, Frosst and Hinton (2017), Procedure 1, Equations 2 and 3.

    >>> v, c = dynamic_routing([[[3.0, 4.0], [0.0, 0.0]]], num_iterations=1)
    >>> c  # the first iteration shares evenly
    [[[0.5, 0.5]]]
    >>> v == [squash([1.5, 2.0]), [0.0, 0.0]]
    True
    """
    children, parents = range(len(u_hat)), range(len(u_hat[0]))
    components = range(len(u_hat[0][0]))
    # Logits: one for each pair; they start at zero.
    b = [[0.0 for _ in parents] for _ in children]
    couplings = []
    for _ in range(num_iterations):
        # Coupling: a child shares itself out among the parents (Equation 3).
        c = [softmax(b[i]) for i in children]
        couplings.append(c)
        # Output: the coupled sum over the children (Equation 2), squashed (Equation 1).
        v = []
        for j in parents:
            s_j = [0.0 for _ in components]
            for m in components:
                s_j[m] = sum(c[i][j] * u_hat[i][j][m] for i in children)
            v.append(squash(s_j))
        # Agreement: the dot product of guess and parent is added to the logit.
        for i in children:
            for j in parents:
                b[i][j] += sum(v[j][m] * u_hat[i][j][m] for m in components)
    return v, couplings


def softmax(b_i: list[float]) -> list[float]:
    """Turn one child's logits into couplings that add up to 1 over the parents (Equation 3).

    Args:
        b_i: the logits of one child, one for each parent.

    Source: Sabour, Frosst and Hinton (2017), Equation 3.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    # Taking the largest logit off changes no quotient, and exp can't overflow.
    powers = [exp(x - max(b_i)) for x in b_i]
    return [power / sum(powers) for power in powers]


def margin_loss(
    v: list[list[float]],
    present: list[int],
    m_plus: float = 0.9,
    m_minus: float = 0.1,
    lambda_: float = 0.5,
) -> float:
    """Sum one image's margin loss over the classes (Equation 4); `present[k]` is 1 or 0.

    Args:
        v: one capsule for each class.
        present: whether the class is there, 1 or 0, for each class.
        m_plus: long enough, if it is there.
        m_minus: short enough, if it isn't.
        lambda_: weight of the absent classes.

    Source: Sabour, Frosst and Hinton (2017), Section 3, Equation 4.

    >>> round(margin_loss([[0.0], [0.1]], [1, 0]), 12)  # 0.9 squared
    0.81
    """
    total = 0.0
    for v_k, t_k in zip(v, present, strict=True):
        # Margins: beyond them there is nothing to pay.
        too_short = max(0.0, m_plus - length(v_k)) ** 2
        too_long = max(0.0, length(v_k) - m_minus) ** 2
        # Choice: `t_k` is 1 or 0 and picks one of the two.
        total += t_k * too_short + lambda_ * (1 - t_k) * too_long
    return total


def mask_capsules(
    v: list[list[float]],
    label: int | None = None,
) -> list[list[float]]:
    """Keep one image's capsule `label`, or its longest one, and zero the others (Section 4.1).

    Args:
        v: one capsule for each class.
        label: which one to keep; None keeps the longest.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1.

    >>> mask_capsules([[1.0], [3.0]])
    [[0.0], [3.0]]
    >>> mask_capsules([[1.0], [3.0]], label=0)
    [[1.0], [0.0]]
    """
    if label is None:
        label = max(range(len(v)), key=lambda k: length(v[k]))
    zeros = [0.0 for _ in v[0]]
    return [v_k if k == label else zeros for k, v_k in enumerate(v)]


def reconstruction_loss(reconstruction: list[float], image: list[float]) -> float:
    """Sum one image's squared errors over its pixels (Section 4.1).

    Args:
        reconstruction: the pixels as drawn.
        image: the pixels to match, as many.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1.

    >>> reconstruction_loss([0.5, 0.0, 1.0], [0.0, 0.0, 1.0])
    0.25
    """
    return sum((drawn - pixel) ** 2 for drawn, pixel in zip(reconstruction, image, strict=True))
