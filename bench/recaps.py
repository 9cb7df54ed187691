"""Whether the decision that a conversation came to reaches a session that hinges on it, whole.

A matter in `data/recaps` is a conversation in which a decision grows (a complaint, proposals that
are rejected, exceptions) and is summed up near its end, in some matters a later conversation that
changes it, a prompt in other words that hinges on it, and a conversation about a neighbouring
matter. All of a half are read into one bank. The prompt is given to the goal brief, to `ask` and to
`recall`, of which the first three hits count. *Whole*: all that makes the rule is told and nothing
that was rejected or superseded; of `ask` and `recall` nothing of that before it. *Part*: some of
it. *Wrong*: something is told, but nothing of the rule. *Nothing*: silence. `unrelated.json` has
prompts about nothing that was spoken of: each is to get silence.

`python -m bench.recaps` reports both halves; `tuning` or `held_back` as an argument, one of them;
with `--show` what was told is printed for each matter that is not whole (never do that with the
held-back half).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.support.transcripts import Script

from holdfast.app.memory import Holdfast
from holdfast.framed_text import one_line
from holdfast.settings import Settings

HALVES = ("tuning", "held_back")
NOW = "2026-09-01T12:00:00.000Z"
OUTCOMES = ("whole", "part", "wrong", "nothing")
# The hits of `recall` that count.
_MAX_HITS = 3
_DATA = Path(__file__).parent / "data" / "recaps"
_PARTS = ("conversation", "amendment", "distractor")


class Conversation(NamedTuple):
    """One session: its host id, its day and what was said, as (speaker, text)."""

    session: str
    day: str
    turns: tuple[tuple[str, str], ...]


class Matter(NamedTuple):
    """The conversations of a matter, the prompt that hinges on it, what has to be told and what
    must not."""

    id: str
    conversations: tuple[Conversation, ...]
    prompt: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


class Told(NamedTuple):
    """What one way told of a matter, and what that is worth."""

    matter: Matter
    text: str
    outcome: str


class Outcome(NamedTuple):
    """What was told in one half, by way, and the unrelated prompts that were not met by silence."""

    told: Mapping[str, Sequence[Told]]
    unrelated: Mapping[str, Sequence[str]]
    prompts: int


def read_matters(half: str) -> list[Matter]:
    """The matters of a half."""
    lines = (_DATA / f"{half}.jsonl").read_text("utf-8").splitlines()
    return [_matter(number, json.loads(line)) for number, line in enumerate(lines)]


def _matter(number: int, item: dict[str, Any]) -> Matter:
    conversations = [
        Conversation(
            f"{10 * number + place:08}-0000-4000-8000-000000000002",
            item[part]["day"],
            tuple((turn["speaker"], turn["text"]) for turn in item[part]["turns"]),
        )
        for place, part in enumerate(_PARTS)
        if item.get(part)
    ]
    must = (*item["must"], *item.get("after", ()))
    return Matter(item["id"], tuple(conversations), item["prompt"], must, tuple(item["must_not"]))


def unrelated_prompts() -> list[str]:
    """Prompts about nothing that any of the conversations speaks of."""
    return json.loads((_DATA / "unrelated.json").read_text("utf-8"))


def run(halves: Sequence[str] = HALVES, show: bool = False) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    for half in halves:
        matters = read_matters(half)
        with opened_bank(matters) as memory:
            found = measure(memory, matters)
        yield from _lines(half, found)
        if show:
            yield from _mistakes(found)


@contextmanager
def opened_bank(matters: Sequence[Matter]) -> Generator[Holdfast]:
    """A memory with all conversations of these matters, read and embedded."""
    with TemporaryDirectory(prefix="holdfast-recaps-") as folder:
        settings = Settings(home=Path(folder), claude_dir=Path(folder) / "claude", bank="recaps")
        with Holdfast(settings, now=lambda: NOW) as memory:
            read_in(memory, matters)
            yield memory


def read_in(memory: Holdfast, matters: Sequence[Matter]) -> None:
    """Write the conversations as transcripts of their days, and ingest them."""
    folder = memory.settings.home / "claude" / "projects"
    for conversation in (one for matter in matters for one in matter.conversations):
        start = datetime.fromisoformat(f"{conversation.day}T09:00:00").replace(tzinfo=UTC)
        start += timedelta(minutes=int(conversation.session[:8]))
        script = Script(conversation.session, start=start)
        for speaker, text in conversation.turns:
            script.user(text) if speaker == "user" else script.assistant(text)
        script.write(folder)
    memory.ingest(memory.ingestion.find([folder]))
    memory.ingestion.embed()


def measure(memory: Holdfast, matters: Sequence[Matter]) -> Outcome:
    """Give each prompt to the goal brief, to `ask` and to `recall`."""
    ways: dict[str, Callable[[str], str]] = {
        "goal brief": lambda prompt: memory.briefs.goal_brief(prompt).text,
        "goal brief by words": lambda prompt: memory.briefs.goal_brief(prompt, quickly=True).text,
        "ask": lambda prompt: _answer(memory, prompt),
        "recall": lambda prompt: _hits(memory, prompt),
    }
    unrelated = unrelated_prompts()
    told = {
        way: [_judge(matter, tell(matter.prompt), way.startswith("goal")) for matter in matters]
        for way, tell in ways.items()
    }
    noise = {way: [p for p in unrelated if tell(p)] for way, tell in ways.items()}
    return Outcome(told, noise, len(unrelated))


def _answer(memory: Holdfast, prompt: str) -> str:
    answer = memory.ask(prompt)
    return "" if answer.abstained else answer.answer


def _hits(memory: Holdfast, prompt: str) -> str:
    return "\n\n".join(hit.text for hit in memory.recall(prompt, limit=_MAX_HITS).hits)


def _judge(matter: Matter, told: str, strictly: bool) -> Told:
    """What is told of a matter. A brief is `strictly` judged: what was rejected or superseded is
    nowhere in it. Elsewhere it may come after the rule."""
    text = _normalised(told)
    held = [text.find(_normalised(words)) for words in matter.must]
    ends = [at + len(words) for at, words in zip(held, matter.must, strict=True)]
    before = text if strictly else text[: max(ends)]
    is_wrong = any(_normalised(words) in before for words in matter.must_not)
    if not text:
        return Told(matter, told, "nothing")
    if all(at >= 0 for at in held) and not is_wrong:
        return Told(matter, told, "whole")
    return Told(matter, told, "part" if any(at >= 0 for at in held) else "wrong")


def _normalised(text: str) -> str:
    """A text on one line, in plain quotation marks: a brief changes both."""
    return one_line(text).translate(str.maketrans("“”‘’", "\"\"''")).replace('"', "'")


def _lines(half: str, found: Outcome) -> Iterator[str]:
    for way, told in found.told.items():
        counts = Counter(one.outcome for one in told)
        shares = ", ".join(f"{name} {counts[name]}" for name in OUTCOMES)
        noise = len(found.unrelated[way])
        yield f"recaps: {half}: {way}: {shares} of {len(told)}; unrelated told: {noise} of " + str(
            found.prompts
        )


def _mistakes(found: Outcome) -> Iterator[str]:
    for way, told in found.told.items():
        for one in told:
            if one.outcome != "whole":
                text = _normalised(one.text)
                lacking = [words for words in one.matter.must if _normalised(words) not in text]
                there = [words for words in one.matter.must_not if _normalised(words) in text]
                yield f"--- {way}: {one.matter.id}: {one.outcome}; lacks {lacking}; has {there}"
                yield one.text
        for prompt in found.unrelated[way]:
            yield f"--- {way}: unrelated: {prompt}"


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name in HALVES]
    for line in run(chosen or HALVES, "--show" in sys.argv):
        print(line, flush=True)
