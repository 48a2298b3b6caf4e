"""Run admit as `python -m admit`."""

import sys

from admit.cli import main

if __name__ == "__main__":
    sys.exit(main())
