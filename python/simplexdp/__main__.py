"""``python -m simplexdp`` is the command line."""

import sys

from simplexdp.cli import main

if __name__ == "__main__":
    sys.exit(main())
