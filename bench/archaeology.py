"""Commits linked to the session that made them, by the words of their subject alone.

Real sessions and the subjects of the commits they made, which are blanked out of the transcripts.
Neither the time nor the files of a commit are given, so this measures the weakest sign by itself
(`refine.by_words`), without the time that authorship asks for on top. A link is right if it names
any of the sessions that made the commit. Precision is the share of links that are right, recall
the share of all commits that are linked rightly. The control: each subject put to the other
projects, where any link is wrong. The last line chooses the lead on one half of the commits and
measures on the other.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.corpus import unpacked
from holdfast.app.evaluation.sets import Question, load_set, read_set
from holdfast.app.memory import Holdfast
from holdfast.refine.git.commit_matching import (
    MIN_COVERAGE,
    MIN_LEAD,
    DiscussingSession,
    find_discussing_session,
)
from holdfast.settings import Settings

ARCHIVE = "eval/archaeology.tar.xz"
PRECISION, RECALL = 0.9, 0.7
LEADS = (1.0, 1.03, MIN_LEAD, 1.1, 1.15, 1.2)
_ALL = 1_000_000


class Asked(NamedTuple):
    """A subject put to one project: what came of it, and whether it is right."""

    bank: str
    spoken: DiscussingSession | None
    is_right: bool

    def links(self, lead: float, covered: float = MIN_COVERAGE) -> bool:
        """Whether it is linked at all, by these floors."""
        said = self.spoken
        return said is not None and said.lead >= lead and said.covered >= covered


def ask(memory: Holdfast, question: Question, bank: str, hosts: dict[str, str]) -> Asked:
    """Put a subject to a project."""
    id = memory.context.bank_id(bank)
    said = find_discussing_session(memory.reader, id or "", question.text, hosts)
    right = said is not None and bank == question.bank and said.host in question.gold_sessions
    return Asked(bank, said, right)


def figures(
    own: Sequence[Asked], lead: float, covered: float = MIN_COVERAGE
) -> tuple[float, float]:
    """Precision and recall."""
    linked = [one for one in own if one.links(lead, covered)]
    right = sum(one.is_right for one in linked)
    return right / max(1, len(linked)), right / max(1, len(own))


def chosen(own: Sequence[Asked]) -> float:
    """The lead that links most with the precision wanted; the greatest if none does."""
    leads = sorted({one.spoken.lead for one in own if one.spoken})
    good = [lead for lead in leads if figures(own, lead)[0] >= PRECISION]
    return max(good, key=lambda lead: figures(own, lead)[1], default=leads[-1])


def crossed(own: Sequence[Asked]) -> tuple[float, float]:
    """Both halves, each by the lead that was chosen on the other."""
    halves = own[::2], own[1::2]
    linked = right = 0
    for mine, other in (halves, halves[::-1]):
        lead = chosen(other)
        some = [one for one in mine if one.links(lead)]
        linked, right = linked + len(some), right + sum(one.is_right for one in some)
    return right / max(1, linked), right / max(1, len(own))


def report(own: Sequence[Asked], foreign: Sequence[Asked]) -> Iterable[str]:
    """The lines."""
    precision, recall = figures(own, MIN_LEAD)
    linked = [one for one in own if one.links(MIN_LEAD)]
    wrong = sum(one.links(MIN_LEAD) for one in foreign)
    yield (
        f"archaeology: {len(own)} commits, {len(linked)} linked by words alone: precision "
        f"{precision:.3f} (wanted {PRECISION}), recall {recall:.3f} (wanted {RECALL}); of "
        f"{len(foreign)} subjects put to other projects {wrong / max(1, len(foreign)):.3f} linked"
    )
    by_bank = Counter(one.bank for one in linked)
    right = Counter(one.bank for one in linked if one.is_right)
    of = Counter(one.bank for one in own)
    told = (f"{b}: {right[b]} of {by_bank[b]} links right, {of[b]} commits" for b in sorted(of))
    yield f"archaeology: {'; '.join(told)}"
    for lead in LEADS:
        p, r = figures(own, lead)
        yield f"archaeology: lead {lead:.2f}: precision {p:.3f}, recall {r:.3f}"
    p, r = crossed(own)
    yield f"archaeology: lead chosen on the other half: precision {p:.3f}, recall {r:.3f}"


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    with unpacked(ARCHIVE) as folder, tempfile.TemporaryDirectory() as place:
        if folder is None:
            return [f"archaeology: skipped, {ARCHIVE} is not here"]
        home = Path(place)
        wanted = read_set(folder)
        questions = wanted.questions
        banks = sorted({question.bank for question in questions})
        with Holdfast(Settings(home=home, claude_dir=home, embed_model="none")) as memory:
            load_set(memory, wanted)
            hosts = {s.id: s.host for s in memory.reader.sessions.latest(None, _ALL)}
            asked = [
                (question.bank == bank, ask(memory, question, bank, hosts))
                for question in questions
                for bank in banks
            ]
    own = [one for is_own, one in asked if is_own]
    return list(report(own, [one for is_own, one in asked if not is_own]))


if __name__ == "__main__":
    print("\n".join(run()))
