"""How sure a measured error rate is."""

import math

Z_95 = 1.96
"""Standard deviations on each side that hold 95% of a normal distribution."""


def wilson_interval(wrong: int, total: int, z: float = Z_95) -> tuple[float, float]:
    r"""Return the range of error rates that fit a count of mistakes (Wilson's score interval).

    With $p = \text{wrong} / n$, the ends are

    $$
    \frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p (1 - p)}{n} + \frac{z^2}{4 n^2}}}
         {1 + \frac{z^2}{n}}
    $$

    It stays within [0, 1] and has a width even where no mistake was made. It speaks of which digits
    happened to be drawn for the test, and not of another training with another seed.

    Args:
        wrong: mistakes made.
        total: digits judged, n.
        z: how many standard deviations on each side; 1.96 for 95%.

    Returns:
        The lowest and the highest rate.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Raises:
        ValueError: if `wrong` isn't between 0 and `total`, or `total` is 0.

    >>> [round(end, 4) for end in wilson_interval(10, 100)]
    [0.0552, 0.1744]
    """
    if not 0 <= wrong <= total or total == 0:
        raise ValueError(f"wrong must lie between 0 and total, got {wrong} of {total}")
    rate, spread = wrong / total, z**2 / total
    centre = rate + spread / 2
    half = math.sqrt(spread * (rate * (1 - rate) + spread / 4))
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))
