"""Wilson's interval: known values, its ends, and how often it holds the truth."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsnet_tutorial.intervals import wilson_interval


@pytest.mark.parametrize(
    ("wrong", "total", "low", "high"),
    [(10, 100, 0.0552, 0.1744), (0, 10, 0.0, 0.2775), (81, 263, 0.2553, 0.3662)],
)
def test_known_values(wrong, total, low, high):
    # The last one is an example of Newcombe (1998), "Two-sided confidence intervals", Table I.
    assert wilson_interval(wrong, total) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 100_000), st.data())
def test_the_interval_holds_the_rate_and_stays_within_0_and_1(total, data):
    wrong = data.draw(st.integers(0, total))
    low, high = wilson_interval(wrong, total)
    assert 0 <= low <= wrong / total + 1e-12
    assert wrong / total - 1e-12 <= high <= 1
    mirrored = wilson_interval(total - wrong, total)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.integers(1, 5000), st.integers(2, 10))
def test_more_digits_make_it_narrower(total, times):
    low, high = wilson_interval(total // 3, total)
    narrow_low, narrow_high = wilson_interval(times * (total // 3), times * total)
    assert narrow_high - narrow_low < high - low


def test_about_95_of_100_intervals_hold_the_true_rate():
    rate, total = 0.02, 1000
    trials = torch.full((2000,), float(total))
    generator = torch.Generator().manual_seed(0)
    counts = torch.binomial(trials, torch.full((2000,), rate), generator=generator)
    held = [low <= rate <= high for low, high in (wilson_interval(int(n), total) for n in counts)]
    assert 0.93 < sum(held) / len(held) < 0.97


@pytest.mark.parametrize(("wrong", "total"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts_are_refused(wrong, total):
    with pytest.raises(ValueError, match="between 0 and total"):
        wilson_interval(wrong, total)
