"""A browser without a network, and pages in it that must not complain."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No other host has an address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
PATIENCE = 120_000  # ms: a busy machine is no failure


# While a browser runs, its thread has an event loop, and other tests start their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the Chromium that is installed; without one, the tests are skipped."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        need = "needs Chromium on the PATH (for example `apt-get install chromium`)"
        (pytest.fail if os.environ.get("REQUIRE_CHROMIUM") else pytest.skip)(need)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def quiet_pages(browser) -> Callable[[], AbstractContextManager[Callable[..., Page]]]:
    """Return a context that gives a maker of pages, which must not complain."""
    return partial(open_quietly, browser)


@pytest.fixture
def new_page(quiet_pages) -> Iterator[Callable[..., Page]]:
    """Return a maker of pages that must not complain."""
    with quiet_pages() as make:
        yield make


@pytest.fixture(scope="session")
def paths(served_site) -> list[str]:
    """Return the pages' paths in the site."""
    folder = served_site.folder
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


@contextmanager
def open_quietly(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Give a maker of pages; an error in any of them, or a request to a host, is a failure."""
    contexts, complaints = [], []

    def heard(message):
        if message.type in ("error", "warning"):
            complaints.append(f"{message.text} ({message.location.get('url')})")

    def asked(request):
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    def make(width: int = 1440, height: int = 900, scheme: str = "light", **options) -> Page:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        context.set_default_timeout(PATIENCE)
        context.on("console", heard)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("request", asked)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()
    assert not complaints
