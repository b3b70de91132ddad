"""What holds on every page: all can read it, nothing is cut off, and it can be printed."""

import re
from functools import partial

import pytest
from walks import COLOURS, WIDTHS, by_day, by_night, colours, only, walk

pytestmark = pytest.mark.slow

# Modules' pages look alike: three are looked at in every way, the others by day and narrow.
SOURCES = ("source/mistakes_margin.html", "source/routing.html", "source/routing_gradient.html")
MODULE = re.compile(r"source/(?!index)")


@pytest.fixture(scope="module")
def kinds(paths) -> list[str]:
    """Return the pages without those that look like others."""
    return [path for path in paths if path in SOURCES or not MODULE.match(path)]


@pytest.fixture(scope="module")
def day(quiet_pages, served_site, paths, kinds) -> dict[str, dict]:
    """Return what every page shows in light, first on a phone and unfolded, then on more widths."""
    others = [path for path in paths if path not in kinds]
    narrow = partial(by_day, widths=(320,), but=COLOURS)
    with quiet_pages() as new_page:
        found = walk(new_page(360), served_site.url, kinds, by_day)
        return found | walk(new_page(360), served_site.url, others, narrow)


@pytest.fixture(scope="module")
def night(quiet_pages, served_site, kinds) -> dict[str, dict]:
    """Return what each kind of page shows in the dark, first on a screen and then on paper."""
    with quiet_pages() as new_page:
        return walk(new_page(1440, scheme="dark"), served_site.url, kinds, by_night)


@pytest.mark.upkeep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_the_colours_of_any_other_module(
    scheme, quiet_pages, served_site, paths, kinds
):
    others = [path for path in paths if path not in kinds]
    with quiet_pages() as new_page:
        found = walk(new_page(1440, scheme=scheme), served_site.url, others, colours)
    assert len(found) == len(others) > 40
    assert not only(["faults"], found)


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
