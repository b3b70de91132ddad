"""What several tests share: the cores, and the site, built once for each address needed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sites import ROOT, Site, build, serve


def pytest_configure():
    """Share the cores among the processes that test; torch reads the number when it starts."""
    if processes := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, os.cpu_count() // int(processes))))


def build_and_serve(folder: Path, path: str, address: str | None = None) -> Iterator[Site]:
    """Build the site into `folder/path` and serve the folder, until the tests are over."""
    server = serve(folder)
    url = f"http://127.0.0.1:{server.server_port}/{path}"
    site = Site(address or url, folder / path, url)
    result = build(ROOT, site.folder, site.address)
    assert result.returncode == 0, result.stderr
    yield site
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def served_site(tmp_path_factory) -> Iterator[Site]:
    """Return the site, built for the address that it is served from."""
    yield from build_and_serve(tmp_path_factory.mktemp("site"), "")


@pytest.fixture(scope="session")
def published_site(tmp_path_factory) -> Iterator[Site]:
    """Return the site, built for a folder of some host."""
    folder = tmp_path_factory.mktemp("published")
    address = "https://example.org/capsnet/"
    yield from build_and_serve(folder, "capsnet/", address)
