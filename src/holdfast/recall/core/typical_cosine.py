"""How near the sessions of a bank are to a prompt in general.

Every session of a project is near to a prompt that names the project or what it is for, and none is
to a prompt in unusual words. So a cosine means something only against those of the other sessions:
the one that a prompt is about stands out from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.recall.core.candidates import ScoredPassage

# Passages nearest in meaning that sessions are compared by, and those of a session whose cosines
# count: more of them, and long sessions win by chance.
NEAREST = 300
BEST_PASSAGES = 3
# Among fewer sessions the median says nothing: it may be that of the session in question.
_MIN_SESSIONS = 8
_KINDS = ("turn", "exchange", "digest", "memory")


def by_session(nearest: Sequence[ScoredPassage]) -> dict[str, list[ScoredPassage]]:
    """The passages of sessions among those nearest to a prompt, in their order."""
    found: dict[str, list[ScoredPassage]] = {}
    for one in nearest:
        if one.passage.session and one.passage.kind in _KINDS:
            found.setdefault(one.passage.session, []).append(one)
    return found


def session_cosine(found: Sequence[ScoredPassage], least: float = 0.0) -> float:
    """How near a session is: the mean cosine of its best passages, nearest first. Those that it
    lacks count as `least`."""
    best = [one.score for one in found[:BEST_PASSAGES]]
    return (sum(best) + least * (BEST_PASSAGES - len(best))) / BEST_PASSAGES


def typical_cosine(sessions: Mapping[str, Sequence[ScoredPassage]]) -> float | None:
    """The median of how near some sessions are; None if they are too few to tell."""
    if len(sessions) < _MIN_SESSIONS:
        return None
    least = min(found[-1].score for found in sessions.values())
    # `statistics` takes a hook ten milliseconds to import.
    cosines = sorted(session_cosine(found, least) for found in sessions.values())
    return (cosines[(len(cosines) - 1) // 2] + cosines[len(cosines) // 2]) / 2
