"""What a search of the sample sessions finds, in which order and with which scores.

    python -m tests.support.sample_rankings > tests/recorded/rankings/tidewatch.json

records it anew, where a change of ranking is intended. It needs nothing but what Holdfast itself
needs, so that it runs on any machine that Holdfast runs on.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory

SESSIONS = Path(__file__).resolve().parents[2] / "examples" / "sessions"
BANK = "tidewatch"
NOW = "2026-11-16T12:00:00.000Z"
BUDGETS = {"by words": Budget.LOW, "by meaning": Budget.MID}
HITS = 10
DECIMALS = 4
# The third decimal. Full-text scores and vectors are sums of floats, and each kind of CPU adds them
# up in another order.
SAME_SCORE = 0.001
# A retriever that a busy machine made too late is asked again, so that speed decides nothing.
_TRIES = 20

QUESTIONS = (
    "Why SQLite and not Postgres?",
    "Which database keeps the readings?",
    "How often does the gauge publish a new height?",
    "How many requests a minute does the harbour API allow?",
    "What is the retry policy of the fetcher?",
    "Do we retry a 4xx answer?",
    "What happens on a 429?",
    "Why is there jitter in the waiting time?",
    "What must a column's name contain?",
    "Where do wind and pressure come from?",
    "What happened with the token that was pasted?",
    "Do we still cache API responses in Redis?",
    "Why was the dashboard slow?",
    "Why was the dashboard dead after the reboot?",
    "What replaced Redis?",
    "Which SMS gateway do the harbour scripts use?",
    "How long before a high water is the harbour master told?",
    "How many messages a day may be sent?",
    "How do we make sure that nobody is alerted twice?",
    "What was the root cause of the duplicate alerts?",
    "Was it the gateway that sent every text twice?",
    "What was ruled out while hunting the double alerts?",
    "What does datetime.now().astimezone().tzinfo return?",
    "In which time zone are times stored?",
    "Which test proves the fix of the clock change?",
    "How is the database backed up?",
    "Why not copy the database file with cp?",
    "What is in src/tidewatch/alerts.py?",
    "Which rules are in CONTRIBUTING.md?",
    "Tell me about the second harbour.",
    "What did Ada decide in October?",
    "When did we move to Kubernetes?",
)


class RankedHit(NamedTuple):
    """A found record and its score."""

    uri: str
    score: float


Ranking = tuple[RankedHit, ...]
# By the kind of search and the question.
Rankings = dict[str, dict[str, Ranking]]


def memory_of_sample_sessions(home: Path) -> Holdfast:
    """The sample sessions, read and embedded, in a memory whose clock stands still."""
    settings = Settings(home=home, claude_dir=home / "claude", bank=BANK)
    memory = Holdfast(with_empty_memory(settings), now=lambda: NOW)
    memory.ingest(memory.ingestion.find([SESSIONS]))
    missing = memory.ingestion.embed(threads=1)
    assert missing == 0, missing
    return memory


def rank_sample_questions(
    memory: Holdfast,
    questions: Sequence[str] = QUESTIONS,
    weights: RankingWeights = DEFAULT_WEIGHTS,
    searches: Collection[str] = BUDGETS,
) -> Rankings:
    """The best hits for each question, by words alone and by meaning, too, or by one of them."""
    return {
        name: {
            question: _ranking(memory, question, BUDGETS[name], weights) for question in questions
        }
        for name in searches
    }


def _ranking(memory: Holdfast, question: str, budget: Budget, weights: RankingWeights) -> Ranking:
    plan = RecallPlan(limit=HITS, budget=budget, weights=weights)
    for _ in range(_TRIES):
        found = memory.search.recall_with_plan(question, BANK, plan)
        late = [one.name for one in found.strategies if one.timed_out]
        failed = [one.problem for one in found.strategies if one.problem]
        assert not failed, failed
        if not late:
            return tuple(RankedHit(hit.uri, round(hit.score, DECIMALS)) for hit in found.hits)
    raise AssertionError(f"{question}: some retrievers were too slow {_TRIES} times.")


def ranking_differences(expected: Rankings, found: Rankings) -> list[str]:
    """Where rankings are not the same, as sentences. Scores may differ by `SAME_SCORE`; hits whose
    scores differ by no more than that may change places, also with the last hit that is shown."""
    differences: list[str] = []
    for name, of_questions in expected.items():
        for question, hits in of_questions.items():
            found_hits = found[name][question]
            differences += [
                f"{name}, {question!r}: {difference}"
                for difference in _differences(hits, found_hits)
            ]
    return differences


def _differences(expected: Ranking, found: Ranking) -> list[str]:
    if len(expected) != len(found):
        return [f"{len(found)} hits, not {len(expected)}"]
    scores = dict(expected)
    differences: list[str] = []
    for place, (wanted, got) in enumerate(zip(expected, found, strict=True), 1):
        if abs(wanted.score - got.score) > SAME_SCORE:
            differences.append(f"place {place} scores {got.score}, not {wanted.score}")
        # A hit that was not shown tied with the last one.
        recorded = scores.get(got.uri, expected[-1].score)
        if abs(recorded - got.score) > SAME_SCORE:
            differences.append(f"place {place} is {got.uri}, not {wanted.uri}")
    return differences


def read_rankings(text: str) -> Rankings:
    """The rankings that `write_rankings` wrote."""
    return {
        name: {
            question: tuple(RankedHit(uri, score) for uri, score in hits.items())
            for question, hits in of_questions.items()
        }
        for name, of_questions in json.loads(text).items()
    }


def write_rankings(rankings: Rankings) -> str:
    """Rankings as JSON: for each question an object of scores by URI, best first."""
    plain = {
        name: {question: dict(hits) for question, hits in of_questions.items()}
        for name, of_questions in rankings.items()
    }
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, memory_of_sample_sessions(Path(folder)) as memory:
        sys.stdout.write(write_rankings(rank_sample_questions(memory)))


if __name__ == "__main__":
    main()
