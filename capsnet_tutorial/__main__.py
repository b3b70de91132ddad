"""`python -m capsnet_tutorial` is the command `capsnet-tutorial`."""

import sys

from capsnet_tutorial.cli import main

if __name__ == "__main__":
    sys.exit(main())
