"""`python -m hashrange` is the command `hashrange`."""

import sys

from hashrange.cli import main

if __name__ == "__main__":
    sys.exit(main())
