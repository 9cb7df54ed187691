"""Secrets: how many of many formats are taken out, and how many innocent lines are marked.

Formats and lines are in `bench/data/secrets`, half to two thirds of them for tuning, the rest held
back. Speed: processor time of redacting the standard library and the transcripts in the `*.tar.xz`
of a folder, if one is named, by this code and, in turns, by the code of another checkout.

    python -m bench.secrets [--against CHECKOUT] [--transcripts FOLDER]
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import string
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from holdfast.capture.redact import Redactor

DATA = Path(__file__).parent / "data" / "secrets"
PARTS = ("tuning", "held_back")
# Of every format and place, so many random secrets.
PER_PLACE = 10
_NEUTRAL_PLACES = (
    "APP_SETTING_7={secret}",
    '{"label": "first", "value": "{secret}"}',
    "I ran it with {secret} and it worked",
)
_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "": _ALNUM,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "u": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "a": string.ascii_letters,
    "w": _ALNUM + "_-",
    "b": _ALNUM + "+/",
    "p": "!#%+-",
}
_BLANK = re.compile(r"\{([hHudawbpB]?)(\d+)\}")


def fill(template: str, rng: random.Random) -> str:
    """A random secret of a template."""

    def random_text(match: re.Match[str]) -> str:
        size = int(match[2])
        if match[1] == "B":
            words = "".join(rng.choice(_ALNUM) for _ in range(size // 4 * 3))
            return base64.b64encode(words.encode()).decode()
        return "".join(rng.choice(_ALPHABETS[match[1]]) for _ in range(size))

    return _BLANK.sub(random_text, template)


def planted(part: str) -> Iterator[tuple[str, int, str, str]]:
    """Every planted secret: its format, the number of its place, the secret, the text around it."""
    rng = random.Random(26)
    for line in (DATA / f"formats_{part}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for number, place in enumerate(row.get("places", _NEUTRAL_PLACES)):
            for _ in range(PER_PLACE):
                secret = fill(row["template"], rng)
                text = fill(place.replace("{secret}", "\0"), rng).replace("\0", secret)
                yield row["format"], number, secret, text


def survives(secret: str, text: str) -> bool:
    """Whether half of a secret is still there, or eight characters of a short one."""
    size = min(max(8, len(secret) // 2), len(secret))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))


def innocent_lines(part: str) -> list[str]:
    """The lines without a secret."""
    return (DATA / f"innocent_{part}.txt").read_text("utf-8").splitlines()


def survivors(part: str, redactor: Redactor) -> tuple[int, Counter[tuple[str, int]]]:
    """How many secrets were planted, and which survived, by format and place."""
    total = 0
    survived: Counter[tuple[str, int]] = Counter()
    for name, place, secret, text in planted(part):
        total += 1
        if survives(secret, redactor.redact(f"first line\n{text}\nlast line").text):
            survived[name, place] += 1
    return total, survived


def marked(part: str, redactor: Redactor) -> list[str]:
    """The innocent lines that are changed."""
    return [line for line in innocent_lines(part) if redactor.redact(line).counts]


def rates(part: str) -> list[str]:
    """The lines of a report on one part of the data."""
    redactor = Redactor()
    total, survived = survivors(part, redactor)
    lines = innocent_lines(part)
    wrong = marked(part, redactor)
    formats = len((DATA / f"formats_{part}.jsonl").read_text("utf-8").splitlines())
    report = [
        f"secrets ({part}): {1 - survived.total() / total:.1%} of {formats} formats × 3 places × "
        f"{PER_PLACE} taken out",
        f"secrets ({part}): {len(wrong) / len(lines):.1%} of {len(lines)} innocent lines marked",
    ]
    report += [f"secrets:   {n} of {name}, place {at}" for (name, at), n in survived.items()]
    report += [f"secrets:   marked: {line[:90]}" for line in wrong]
    return report


def texts_to_time(transcripts: str) -> list[str]:
    """Pieces of code and, if a folder is named, the texts of the transcripts in its archives."""
    pieces: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text("utf-8", "replace")
        pieces += [text[start : start + 2000] for start in range(0, len(text), 2000)]
    for archive in sorted(Path(transcripts).glob("*.tar.xz")) if transcripts else ():
        with tarfile.open(archive) as files:
            for member in files:
                content = files.extractfile(member) if member.name.endswith(".jsonl") else None
                text = content.read().decode("utf-8") if content else ""
                for line in text.splitlines():
                    whole = line.startswith("{") and line.endswith("}")
                    pieces += strings_in(json.loads(line)) if whole else [line]
    return pieces


def strings_in(value: object) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from strings_in(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from strings_in(part)


def seconds_to_redact(transcripts: str) -> float:
    """Processor seconds of this process for all texts."""
    pieces = texts_to_time(transcripts)
    redactor = Redactor()
    started = time.process_time()
    for piece in pieces:
        redactor.redact(piece)
    return time.process_time() - started


def _timed_in(checkout: Path, transcripts: str) -> float:
    """The same of the code of a checkout, in a process of its own."""
    bench = Path(__file__).resolve().parent.parent
    code = (
        f"import sys; sys.path[:0] = [{str(checkout / 'src')!r}, {str(bench)!r}]\n"
        f"from bench.secrets import seconds_to_redact; print(seconds_to_redact({transcripts!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def compared(checkout: Path, transcripts: str, rounds: int = 3) -> str:
    """Processor time of this code as a share of another checkout's, least of each, in turns."""
    here = Path(__file__).resolve().parent.parent
    times = [
        (_timed_in(here, transcripts), _timed_in(checkout, transcripts)) for _ in range(rounds)
    ]
    ours, others = min(a for a, _ in times), min(b for _, b in times)
    return f"secrets: {ours / others:.2f} of the processor time of {checkout} ({ours:.2f} s)"


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    return [line for part in PARTS for line in rates(part)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--transcripts", default="", help="a folder with transcripts in *.tar.xz")
    options = parser.parse_args()
    print("\n".join(rates(options.part) if options.part else run()))
    if options.against:
        print(compared(options.against.resolve(), options.transcripts))
