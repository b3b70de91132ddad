"""Build the site and serve it from this machine."""

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Site(NamedTuple):
    """A built site: the address that it was built for, its folder, and where it is served."""

    address: str
    folder: Path
    url: str


def build(
    root: Path, target: Path, address: str = "https://example.org/", **variables: str
) -> subprocess.CompletedProcess:
    """Build the site of a folder, strictly, with these environment variables."""
    environment = os.environ | {"SITE_URL": address, "NO_MKDOCS_2_WARNING": "1"} | variables
    # Not --quiet: it hides warnings from --strict too.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(target)]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, encoding="utf-8", timeout=300
    )


def serve(folder: Path) -> ThreadingHTTPServer:
    """Serve a folder on a free port until the server is shut down."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler that writes no line for each request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Write nothing."""
