"""What several tests share: the cores, and the site, built once for each address needed."""

import os
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from sites import ROOT, Site, build, serve

SERVED = "CAPSNET_TUTORIAL_TESTS_SERVE"
"""Environment variable that tells the processes that test which folder is served, and where."""


def pytest_configure(config):
    """Share the cores and a server of files among the processes that test."""
    if processes := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
        # torch reads the number when it starts.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, os.cpu_count() // int(processes))))
    elif SERVED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="capsnet-tutorial-site-")
        server = serve(Path(folder.name))
        os.environ[SERVED] = f"{server.server_port} {folder.name}"
        config.add_cleanup(lambda: (server.shutdown(), server.server_close(), folder.cleanup()))


def built_site(name: str, address: str | None = None) -> Site:
    """Return the site that lies in a folder which is served, built by whoever comes first."""
    port, folder = os.environ[SERVED].split(" ", 1)
    url = f"http://127.0.0.1:{port}/{name}/"
    site = Site(address or url, Path(folder, name), url)
    with FileLock(f"{site.folder}.lock"):
        if not site.folder.exists():
            begun = site.folder.with_name(f"{name}.begun")
            result = build(ROOT, begun, site.address)
            assert result.returncode == 0, result.stderr
            begun.rename(site.folder)
    return site


@pytest.fixture(scope="session")
def served_site() -> Site:
    """Return the site, built for the address that it is served from."""
    return built_site("served")


@pytest.fixture(scope="session")
def published_site() -> Site:
    """Return the site, built for a folder of some host."""
    return built_site("capsnet", "https://example.org/capsnet/")
