"""Whether the server in this container answers: exit 0 if it does, 1 if it does not.

Standard library only. The address can be given as an argument; under which name it is asked does
not matter to a server behind a proxy that was given no --name.
"""

from __future__ import annotations

import sys
import urllib.request

DEFAULT = "http://127.0.0.1:8080/health"


def main(address: str = DEFAULT) -> int:
    """Ask once."""
    try:
        with urllib.request.urlopen(address, timeout=4) as answer:
            return 0 if answer.status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
