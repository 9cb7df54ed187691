"""`python -m holdfast`: the same as the command `holdfast`."""

from __future__ import annotations

import sys

from holdfast.interfaces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
