"""The parts of a command: what `main` needs to print its help, parse its options and run it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple


class CommandSpec(NamedTuple):
    """One command. A module with a single command has these parts as HELP, EXAMPLES, `configure`
    and `run`; a module with several commands has one of these records for each."""

    help: str
    examples: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
