"""Redaction: how many planted secrets are taken out, and what is taken out that is none.

Planted: seeded random secrets of each kind in lines of code, configuration, shell and prose.
None: the sources of the Python standard library, which hold no secrets; every mark is false.
"""

from __future__ import annotations

import random
import sysconfig
import time
from collections import Counter
from pathlib import Path

from bench.secrets import fill
from holdfast.capture.redact import Redactor

PER_KIND = 200

# kind -> a template of it; {N} is N random letters and digits, {hN} N hex digits.
KINDS = {
    "aws key": "AKIA{u16}",
    "anthropic key": "sk-" + "ant-api03-{40}",
    "openai key": "sk-" + "proj-{40}",
    "github token": "gh" + "p_{36}",
    "gitlab token": "gl" + "pat-{20}",
    "slack token": "xox" + "b-{d12}-{d12}-{24}",
    "stripe key": "sk" + "_live_{24}",
    "google key": "AI" + "za{35}",
    "npm token": "np" + "m_{36}",
    "jwt": "ey" + "J{20}.ey" + "J{30}.{30}",
    "random 32": "{32}",
    "hex 40": "{h40}",
    "password": "{6}{p2}{4}",
}
PLACES = {
    "code": ('{name} = "{secret}"', "const {name} = '{secret}';", '{name}: "{secret}",'),
    "env": ("{NAME}={secret}", "export {NAME}={secret}"),
    "yaml": ("  {name}: {secret}", '"{name}": "{secret}"'),
    "url": ("postgres://app:{secret}@db:5432/x", "https://x.example/api?token={secret}"),
    "header": ('curl -H "Authorization: Bearer {secret}" https://x.example',),
    "flag": ("deploy --token {secret} --region eu", "mysql --password={secret} app"),
    "prose": ("the key is {secret}, do not lose it", "I used {secret} and it works"),
}
NAMES = ("api_key", "secret", "auth_token", "db_password", "clientSecret", "access_key")
_SELF_TELLING = set(KINDS) - {"random 32", "hex 40", "password"}


def planted() -> tuple[Counter[str], Counter[str]]:
    """How many of each kind were planted, and how many came through."""
    rng = random.Random(7)
    redactor = Redactor()
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for kind, template in KINDS.items():
        for _ in range(PER_KIND):
            secret = fill(template, rng)
            place = rng.choice([p for p in PLACES if p != "prose" or kind in _SELF_TELLING])
            name = rng.choice(NAMES)
            line = rng.choice(PLACES[place])
            text = line.format(name=name, NAME=name.upper(), secret=secret)
            around = f"def load():\n    pass\n{text}\nprint('done')\n"
            total[kind] += 1
            missed[kind] += secret in redactor.redact(around).text
    return total, missed


def false_positives() -> tuple[int, Counter[str], float]:
    """Characters of secret-free code read, marks made in it, and seconds taken."""
    redactor = Redactor()
    marks: Counter[str] = Counter()
    size = 0
    started = time.process_time()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text("utf-8", "replace")
        size += len(text)
        for start in range(0, len(text), 2000):
            marks.update(redactor.redact(text[start : start + 2000]).counts)
    return size, marks, time.process_time() - started


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    total, missed = planted()
    report = [
        f"redaction: {sum(total.values()) - sum(missed.values())} of {sum(total.values())} planted "
        f"secrets taken out ({1 - sum(missed.values()) / sum(total.values()):.1%})"
    ]
    report += [
        f"redaction:   {kind}: {n} of {total[kind]} came through" for kind, n in missed.items() if n
    ]
    size, marks, seconds = false_positives()
    report.append(
        f"redaction: {sum(marks.values())} false marks in {size / 1e6:.1f} million characters of "
        f"the standard library {dict(marks) if marks else ''}({seconds / size * 1e9:.0f} ns each)"
    )
    return report


if __name__ == "__main__":
    print("\n".join(run()))
