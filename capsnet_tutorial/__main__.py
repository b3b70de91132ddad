"""`python -m capsnet_tutorial` is the command `capsnet-tutorial`."""

import sys


def main() -> int:
    """Run the command; Ctrl-C may come before all of it is loaded.

    Returns:
        The exit code, as of `capsnet_tutorial.cli.main`.
    """
    try:
        from capsnet_tutorial import cli

        return cli.main()
    except KeyboardInterrupt:
        print("capsnet-tutorial: stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
