"""What holds on every page: all can read it, nothing is cut off, and it can be printed."""

import re

import pytest
from walks import WIDTHS, by_day, by_night, in_brief, only, walk

pytestmark = pytest.mark.slow

# Modules' pages look alike: three are looked at in every way, the others in brief, and in every way
# by `pytest -m upkeep`.
SOURCES = ("source/mistakes_margin.html", "source/routing.html", "source/routing_gradient.html")
MODULE = re.compile(r"source/(?!index)")
ALL = ("faults", "mute", "clutter", "unread", *WIDTHS)


@pytest.fixture(scope="module")
def kinds(paths) -> list[str]:
    """Return the pages without those that look like others."""
    return [path for path in paths if path in SOURCES or not MODULE.match(path)]


@pytest.fixture(scope="module")
def others(paths, kinds) -> list[str]:
    """Return the pages that look like others."""
    return [path for path in paths if path not in kinds]


@pytest.fixture(scope="module")
def day(quiet_pages, served_site, kinds, others) -> dict[str, dict]:
    """Return what every page shows in light and unfolded."""
    with quiet_pages() as new_page:
        found = walk(new_page(360), served_site.url, kinds, by_day)
        return found | walk(new_page(360), served_site.url, others, in_brief)


@pytest.fixture(scope="module")
def night(quiet_pages, served_site, kinds) -> dict[str, dict]:
    """Return what each kind of page shows in the dark and folded."""
    with quiet_pages() as new_page:
        return walk(new_page(1440, scheme="dark"), served_site.url, kinds, by_night)


@pytest.mark.upkeep
@pytest.mark.parametrize(("scheme", "look"), [("light", by_day), ("dark", by_night)])
def test_pages_that_look_like_others_have_no_fault_either(
    scheme, look, quiet_pages, served_site, others
):
    with quiet_pages() as new_page:
        found = walk(new_page(360, scheme=scheme), served_site.url, others, look)
    assert len(found) == len(others) > 40
    assert not only(ALL, found)


def test_axe_finds_no_fault_of_wcag_2_1_aa(day):
    assert not only(["faults"], day)


def test_axe_finds_no_fault_in_the_dark(night):
    assert not only(["faults"], night)


def test_pages_make_sense_without_eyes(day):
    assert not only(["mute"], day)


def test_nothing_is_cut_off_at_any_width(day):
    assert not only(WIDTHS, day)


def test_paper_holds_what_is_to_be_read_and_nothing_to_press(day, night):
    assert not only(["clutter", "unread"], day)
    assert not only(["clutter", "unread"], night)
