"""Write constraints.txt: the exact versions in this environment, but for torch and what it pins."""

import re
import subprocess
import sys
from pathlib import Path

# torch, torchvision and the packages whose versions belong to one torch build.
FREE = re.compile(r"(torch|torchvision|triton|setuptools|nvidia-|cuda-|capsnet-tutorial)")
HEADER = "# The versions that were tested; `make pins` rewrites this file.\n"

if __name__ == "__main__":
    freeze = [sys.executable, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]
    listed = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout.splitlines()
    pins = [line for line in listed if not FREE.match(line) and not line.startswith("pip==")]
    Path("constraints.txt").write_text(HEADER + "\n".join(pins) + "\n")
