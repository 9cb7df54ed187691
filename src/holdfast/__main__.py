"""`python -m holdfast`: the same as the command `holdfast`."""

from __future__ import annotations

import os
import sys


def _main() -> int:
    if sys.argv[1:] == ["mcp"] and sys.platform != "win32":
        # Every session of Claude Code starts the server and waits for its first answers.
        from holdfast.interfaces.mcp.standby import stand_by

        pending = stand_by()
        if pending is None:
            os._exit(0)  # nothing is open; to take down the modules costs 10 ms
        from holdfast.interfaces.cli.commands.mcp import go_on

        go_on(pending)
    from holdfast.interfaces.cli.main import main

    return main()


if __name__ == "__main__":
    sys.exit(_main())
