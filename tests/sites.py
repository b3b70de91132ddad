"""Build the site and serve it from this machine."""

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Site(NamedTuple):
    """A built site: the address that it was built for, its folder, and where it is served."""

    address: str
    folder: Path
    url: str


def docs_environment(folder: Path) -> dict[str, str]:
    """Return an environment that lacks what `make serve` does not install, by files in a folder."""
    # The site needs no torch. The other one comes with JupyterLab and takes seconds to load.
    for name in ("torch", "rfc3987_syntax"):
        (folder / f"{name}.py").write_text(f"raise ImportError('the site needs no {name}')\n")
    return os.environ | {"PYTHONPATH": str(folder), "NO_MKDOCS_2_WARNING": "1"}


def build(
    root: Path, target: Path, address: str = "https://example.org/"
) -> subprocess.CompletedProcess:
    """Build the site of a folder, strictly."""
    # Not --quiet: it hides warnings from --strict too.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(target)]
    with TemporaryDirectory() as folder:
        variables = docs_environment(Path(folder)) | {"SITE_URL": address}
        return subprocess.run(
            command, cwd=root, env=variables, capture_output=True, encoding="utf-8", timeout=300
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
