"""What a memory knows after sessions of which a model wrote summaries and memories.

No service is asked: what a model would answer to the prompts of ten sessions was written down by
hand, by somebody who read the prompts and nothing else, and is served on loopback. The sessions are
those of the labelled ones that have fewer than 400 lines, in the order of their paths, without
every third; they were chosen before anybody looked into one. Wants `eval/archaeology.tar.xz` and
`knowledge/dev.tar.xz` in $HOLDFAST_BENCH_DATA.

A reply is found by the turns that a prompt shows, so it is found again if the instructions change.
`python -m bench.knowledge_by_model --unanswered FOLDER` writes the prompts that have no reply yet
into a folder, each in a file with the name of its key.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from tests.support.model_service import Service, running

from bench.corpus import data_folder, unpacked
from bench.knowledge import (
    KnowledgeReport,
    measure_knowledge,
    read_labels,
    report_line,
    session_name,
)
from holdfast.app.background.model_tasks import extract_memories, summarise
from holdfast.app.evaluation.distilled import read_distilled
from holdfast.app.evaluation.sets import LABELS, TRANSCRIPTS, load_set, open_home, read_set
from holdfast.app.memory import Holdfast
from holdfast.inference.encoder import packaged_encoder
from holdfast.settings import ModelSettings, Settings, SpendCaps, load_settings

Json = dict[str, Any]
REPLIES = Path(__file__).parent / "data" / "knowledge_replies" / "replies.jsonl"
_TRANSCRIPTS_ARCHIVE, _LABELS_ARCHIVE = "eval/archaeology.tar.xz", "knowledge/dev.tar.xz"
_MAX_LINES = 400
# Characters of a turn that its prompt is recognised by.
_START = 80
_PLENTY = SpendCaps(10**9, 10**6, 10**9, 10**6)
_TURN = re.compile(r"^\[(\d*) ?(user|assistant|tool)\] ?(.*)", re.MULTILINE)
_TITLE = re.compile(r"^- \w+, \w+: (.*)", re.MULTILINE)


class Asked(NamedTuple):
    """A prompt: what is asked for, and the key of its reply."""

    about: str
    key: str
    text: str


class RecordedModel:
    """Answers with recorded replies; what has none is kept in `unanswered`."""

    def __init__(self, service: Service, replies: Mapping[str, Json]) -> None:
        self.calls = 0
        self.tokens = 0
        self.unanswered: dict[str, Asked] = {}
        self._replies = replies
        service.answer = self._answer

    def _answer(self, body: Json) -> tuple[int, Mapping[str, str], Json]:
        asked = read_prompt(body)
        reply = self._replies.get(asked.key)
        if reply is None:
            self.unanswered[asked.key] = asked
        text = json.dumps(_NOTHING[asked.about] if reply is None else reply)
        usage = {"prompt_tokens": len(asked.text) // 4, "completion_tokens": len(text) // 4}
        self.calls += 1
        self.tokens += sum(usage.values())
        return 200, {}, {"choices": [{"message": {"content": text}}], "usage": usage}


# What is said where there is no reply: no memories, and nothing that could be a summary.
_NOTHING: Mapping[str, Json] = {"memories": {"memories": []}, "exchanges": {}, "digest": {}}


def read_prompt(body: Json) -> Asked:
    """What a request asks for."""
    system, data = (str(message["content"]) for message in body["messages"])
    schema = cast(Json, body["response_format"]["json_schema"]["schema"])
    about = next((n for n in ("memories", "exchanges") if n in schema["properties"]), "digest")
    if about == "digest":
        marks = _TITLE.findall(data)[:1]
    else:
        turns = _TURN.findall(data)
        said = [text[:_START] for _, role, text in turns if role == "user"]
        marks = [str(len(turns)), turns[0][2][:_START], turns[-1][2][:_START], *said]
    sum_of_marks = hashlib.sha256("\n".join([about, *marks]).encode()).hexdigest()[:16]
    return Asked(about, sum_of_marks, f"{system}\n\n{data}")


def read_replies(path: Path = REPLIES) -> dict[str, Json]:
    """The recorded replies by key."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    records = [cast(Json, json.loads(line)) for line in lines]
    return {str(record["key"]): cast(Json, record["reply"]) for record in records}


def chosen_sessions(transcripts: Path, labelled: Iterable[str]) -> list[Path]:
    """The transcripts that are measured."""
    names = set(labelled)
    found = (path for path in sorted(transcripts.glob("*/*.jsonl")) if path.stem in names)
    short = [path for path in found if _count_lines(path) < _MAX_LINES]
    return [path for number, path in enumerate(short, 1) if number % 3]


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def run(unanswered: Path | None = None) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    with ExitStack() as stack:
        archives = (_TRANSCRIPTS_ARCHIVE, _LABELS_ARCHIVE)
        folders = [stack.enter_context(unpacked(archive)) for archive in archives]
        if None in folders:
            missing = [name for name, at in zip(archives, folders, strict=True) if at is None]
            yield f"knowledge_by_model: skipped, {missing[0]} is not in {data_folder()}"
            return
        transcripts, labels = (cast(Path, folder) for folder in folders)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_set(place, transcripts / TRANSCRIPTS, labels / LABELS)
        service = stack.enter_context(running())
        yield report_line(", without a model", measure(place, None))
        model = RecordedModel(service, read_replies())
        yield report_line(", with replies written by hand", measure(place, service.url))
        yield (
            f"knowledge_by_model: {model.calls} calls, about {model.tokens:,} tokens; "
            f"{len(model.unanswered)} prompts without a reply"
        )
        if unanswered is not None:
            unanswered.mkdir(parents=True, exist_ok=True)
            for asked in model.unanswered.values():
                (unanswered / f"{asked.about}-{asked.key}.txt").write_text(asked.text, "utf-8")


def write_set(folder: Path, transcripts: Path, labels: Path) -> None:
    """Write a set of the chosen sessions and their labels."""
    lines = labels.read_text("utf-8").splitlines()
    named = [(session_name(json.loads(line)["session"]), line) for line in lines]
    wanted: set[str] = set()
    for path in chosen_sessions(transcripts, (name for name, _ in named)):
        bank = folder / TRANSCRIPTS / path.parent.name
        bank.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, bank / path.name)
        wanted.add(path.stem)
    kept = [line for name, line in named if name in wanted]
    (folder / LABELS).write_text("\n".join(kept) + "\n", "utf-8")


def measure(folder: Path, service: str | None) -> KnowledgeReport:
    """Read a set, let the model service at an address work on it, and compare with the labels."""
    wanted = read_set(folder)
    with open_home(_settings(service)) as memory:
        load_set(memory, wanted)
        if service is not None:
            _ask(memory)
        return measure_knowledge(
            read_labels(folder / LABELS),
            read_distilled(memory),
            packaged_encoder(os.cpu_count() or 1),
        )


def _settings(service: str | None) -> Settings:
    models = ModelSettings()
    if service is not None:
        models = ModelSettings(
            "openai", "recorded", "recorded", endpoint=f"{service}/v1", days=0, caps=_PLENTY
        )
    return replace(load_settings(), models=models)


def _ask(memory: Holdfast) -> None:
    """What the worker does: summaries first, then memories."""
    for stopped in (
        summarise(memory, lambda: None).stopped,
        extract_memories(memory, lambda: None).stopped,
    ):
        assert not stopped, stopped
    memory.ingestion.update()


if __name__ == "__main__":
    place = Path(sys.argv[2]) if sys.argv[1:2] == ["--unanswered"] else None
    for line in run(place):
        print(line, flush=True)
