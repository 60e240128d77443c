"""Random combinations of the options of du."""

from __future__ import annotations

import random

# One list an option that takes part in the random combinations.
CHOICES = (
    ("", "-a"),
    ("", "-b", "--apparent-size", "-k", "-m", "-B1", "-B512", "-BK", "-BkB", "-BM", "-B1000", "-h")
    + ("--si", "-Bhuman-readable", "-Bsi", "--block-size='1", "-B7", "-BG"),
    ("", "-c"),
    ("", "-S"),
    ("", "-l"),
    ("", "-d0", "-d1", "-d2", "--max-depth=4"),
    ("", "-t1", "-t5000", "-t-5000", "-t1K", "--threshold=-1M"),
    ("", "--inodes"),
    ("", "-x"),
    ("", "-P", "-D", "-H"),
    ("", "--exclude=*a*", "--exclude=?"),
    ("", "--time", "--time=atime", "--time=ctime"),
)


def combinations(number: int, seed: int) -> list[tuple[str, ...]]:
    """Returns random combinations of options, the same ones on every run."""
    rng = random.Random(seed)
    chosen = []
    for _ in range(number):
        # Mostly few options at once, since many options leave little output.
        picked = [rng.choice(values) if rng.random() < 0.4 else "" for values in CHOICES]
        chosen.append(tuple(option for option in picked if option))
    return sorted(set(chosen))
