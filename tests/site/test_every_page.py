"""What holds on every page: all can read it, nothing is cut off, and it can be printed."""

import pytest
from walks import WIDTHS, by_day, by_night, only, walk

pytestmark = pytest.mark.slow

# In the dark and on paper, pages of one kind look alike: so three of the annotated sources.
SOURCES = ("source/mistakes.html", "source/routing.html", "source/routing_gradient.html")


@pytest.fixture(scope="module")
def day(quiet_pages, served_site, paths) -> dict[str, dict]:
    """Return what every page shows in light, first on a phone and unfolded, then on all widths."""
    with quiet_pages() as new_page:
        return walk(new_page(360), served_site.url, paths, by_day)


@pytest.fixture(scope="module")
def night(quiet_pages, served_site, paths) -> dict[str, dict]:
    """Return what each kind of page shows in the dark, first on a screen and then on paper."""
    kinds = [path for path in paths if not path.startswith("source/") or path in SOURCES]
    with quiet_pages() as new_page:
        return walk(new_page(1440, scheme="dark"), served_site.url, kinds, by_night)


def test_axe_finds_no_fault_of_wcag_2_1_aa(day):
    assert not only(["faults"], day)


def test_axe_finds_no_fault_in_the_dark(night):
    assert not only(["faults"], night)


def test_pages_make_sense_without_eyes(day):
    assert not only(["mute"], day)


def test_nothing_is_cut_off_at_any_width(day):
    assert not only(WIDTHS, day)


def test_paper_holds_what_is_to_be_read_and_nothing_to_press(night):
    assert not only(["clutter", "unread"], night)
