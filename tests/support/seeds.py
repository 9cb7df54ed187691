"""Chance in tests: another one in each run, and the same one again for whoever asks for it."""

from __future__ import annotations

import os
import random
import sys

VARIABLE = "HOLDFAST_TEST_SEED"


def seeded_random() -> random.Random:
    """Random numbers by the seed in HOLDFAST_TEST_SEED, or by a new one. The seed is printed, so
    that the output of a test that failed says how to draw the same numbers again."""
    seed = int(os.environ.get(VARIABLE) or random.SystemRandom().randrange(2**32))
    sys.stdout.write(f"{VARIABLE}={seed}\n")
    return random.Random(seed)
