"""The program `ringwalk-cluster`, as ``python -m ringwalk.cluster``."""

import sys

from ringwalk.cluster.cli import main

if __name__ == "__main__":
    sys.exit(main())
