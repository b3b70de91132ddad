"""The pictures of the margin loss are described by their data."""

from drawings import DRAW


def test_text_alternatives_are_made_from_the_data():
    assert "from 0.81 at length 0" in DRAW["margin-curves"]().alt
    assert "0 at 0.9 and stays" in DRAW["margin-curves"]().alt
    assert "0 up to 0.1 and rises" in DRAW["margin-curves"]().alt
    assert "with squares from -1.8 to -0.0" in DRAW["margin-slopes"]().alt
    assert "without from -1.0 to" in DRAW["margin-slopes"]().alt
    assert "0.250 where it is 0.5, and at 0.180 where it is 1" in DRAW["pull-balance"]().alt
    assert "is 0.02, then 0.80 after one step and 0.60 at the end" in DRAW["first-steps"]().alt
