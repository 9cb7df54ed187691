"""Memories that a model extracts from sessions: what it is asked and what becomes of an answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.capture.redact import Redactor
from holdfast.errors import ModelTooLongError
from holdfast.inference.chat import Question
from holdfast.model.knowledge import Kind, Memory, Network
from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.records import Turn
from holdfast.model.trust import Trust
from holdfast.refine.by_model import memory_extraction
from holdfast.refine.by_model.memory_extraction import ExtractionReport, Extractor
from holdfast.refine.by_model.model_run import ModelRun
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.refine.model_output.prompts import PROMPT_VERSION
from holdfast.settings import Settings, SpendCaps
from holdfast.spend.governor import Governor
from tests.support.chats import ScriptedChat
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script, bug_hunt

NOW = "2026-11-15T12:00:00.000Z"
PLENTY = SpendCaps(10**9, 10**6, 10**9, 10**6)
CAUSE = "The retry wrapper ran load() a second time after a timeout, so every row was loaded twice."
RULE = "From now on every import must pass an idempotency key."
# What a version asks. Where the test finds another sum, raise the version, and put the sum here.
PROMPT_SUM = {2: "e481c846db4add41"}


def item(turn: int | None, kind: str, what: str, **more: str) -> dict[str, Any]:
    return {"turn": turn, "kind": kind, "what": what, "where": "", "who": "", "why": "", **more}


def answer(*items: dict[str, Any]) -> str:
    return json.dumps({"memories": items})


def two_requests() -> Script:
    script = bug_hunt()
    script.user(f"Good. {RULE}")
    script.assistant(
        "Understood: every import passes an idempotency key from now on. I looked for others and "
        "found none, so there is nothing to change today."
    )
    return script


class Home:
    """A memory with one session."""

    def __init__(self, folder: Path, script: Script) -> None:
        settings = Settings(
            folder / "home", folder / "claude", bank="tidewatch", embed_model="none"
        )
        self.memory = Holdfast(with_empty_memory(settings), lambda: NOW)
        self.folder = folder
        self.read(script)

    def read(self, script: Script) -> None:
        path = script.write(self.folder / "claude" / "projects")
        self.memory.ingest(self.memory.ingestion.find([path]))
        self.memory.ingestion.update()

    def run(self, chat: ScriptedChat, caps: SpendCaps = PLENTY) -> ModelRun:
        store = self.memory.store
        governor = Governor(chat, store, caps, lambda: NOW, wait=lambda s: None)
        return ModelRun(store, governor, Redactor(), lambda: NOW, lambda session: True)

    def extract(
        self, chat: ScriptedChat, tokens: int = 8000, caps: SpendCaps = PLENTY
    ) -> ExtractionReport:
        done = Extractor(self.run(chat, caps), tokens, "").run()
        self.memory.ingestion.update()
        return done

    def retained(self) -> list[Memory]:
        (bank,) = self.memory.reader.banks.all()
        return self.memory.reader.memories.retained(bank.id, limit=1000)

    def turns(self) -> list[Turn]:
        (session,) = self.memory.reader.sessions.latest(None)
        return self.memory.reader.turns.of_session(session.bank, session.id)

    def place_of(self, words: str) -> int:
        """The place of the first turn that says this."""
        return next(turn.seq for turn in self.turns() if words in turn.text)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, two_requests())
    yield made
    made.memory.close()


def test_one_call_shows_a_whole_session_with_its_project_and_numbered_turns(home: Home) -> None:
    chat = ScriptedChat(answer())
    home.extract(chat)
    (question,) = chat.asked
    assert "context: the project is called tidewatch" in question.text
    assert "exchange 1\n" in question.text and "exchange 2\n" in question.text
    for turn in home.turns():
        assert f"\n[{turn.seq} {turn.role.value}] " in question.text
    assert "2 failed in 0.31s" in question.text


def test_the_instructions_define_every_kind_and_give_an_example_of_the_right_form(
    home: Home,
) -> None:
    chat = ScriptedChat(answer())
    home.extract(chat)
    (question,) = chat.asked
    for kind in Kind:
        assert f"\n  {kind.value}: " in question.system
    example = question.system.partition("of another project:\n")[2].partition("\n\n")[0]
    drafts = memory_extraction.parse_memories(example.replace("\n", " "))
    assert len(drafts) == 3 and {draft.kind for draft in drafts} <= set(Kind)
    (fields,) = {tuple(one) for one in json.loads(example.replace("\n", " "))["memories"]}
    assert list(fields) == question.schema["properties"]["memories"]["items"]["required"]
    assert json.dumps(question.schema) not in question.system + question.text


def test_changed_instructions_need_a_new_version(home: Home) -> None:
    chat = ScriptedChat(answer())
    home.extract(chat)
    asked = chat.asked[0]
    border = asked.text.split("\n", 1)[0]
    said = f"{asked.system}\n{asked.text}\n{json.dumps(asked.schema)}".replace(border, "border")
    found = hashlib.sha256(said.encode()).hexdigest()[:16]
    assert found == PROMPT_SUM[memory_extraction.VERSION]


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_reaches_the_memory_in_the_network_of_statements_of_that_kind(
    home: Home, kind: Kind
) -> None:
    place = home.place_of("ran load() a second time")
    assert home.extract(ScriptedChat(answer(item(place, kind.value, CAUSE)))).exchanges == 1
    (kept,) = home.retained()
    assert kept.what == CAUSE and kept.kind is kind
    assert kept.network is statement_network(kind, CAUSE, is_person=False)
    stated = next(turn for turn in home.turns() if turn.seq == place)
    assert kept.evidence_for[1] == f"holdfast://turn/{stated.id}" and kept.trust is stated.trust


def test_what_a_person_said_is_kept_as_theirs(home: Home) -> None:
    home.extract(ScriptedChat(answer(item(home.place_of(RULE), "rule", RULE))))
    (kept,) = home.retained()
    assert kept.trust is Trust.USER and kept.who == "user" and kept.network is Network.WORLD


def test_words_that_a_turn_does_not_say_are_not_kept_as_those_of_whoever_said_it(
    home: Home,
) -> None:
    """A model may name the request for what the agent found."""
    home.extract(ScriptedChat(answer(item(home.place_of("Please find out why"), "rule", CAUSE))))
    (kept,) = home.retained()
    assert kept.trust is not Trust.USER and kept.who != "user"


def test_an_agents_words_after_text_from_outside_stay_untrusted(tmp_path: Path) -> None:
    script = bug_hunt()
    script.tool("WebFetch", "Retry twice.", url="https://pages.example/a", prompt="read")
    script.assistant("The page says that every import must be retried twice after a timeout.")
    home = Home(tmp_path, script)
    what = "Every import must be retried twice after a timeout."
    place = home.place_of("must be retried twice")
    home.extract(ScriptedChat(answer(item(place, "rule", what))))
    (kept,) = home.retained()
    assert kept.what == what and kept.trust is Trust.EXTERNAL
    home.memory.close()


@pytest.mark.slow
def test_what_a_model_leaves_out_is_retained_neither_by_rules_nor_by_the_selector(
    home: Home,
) -> None:
    assert len(home.retained()) > 1
    done = home.extract(ScriptedChat(answer(item(home.place_of(RULE), "rule", RULE))))
    assert [one.what for one in home.retained()] == [RULE] and done == ExtractionReport(1)
    home.memory.ingestion.rebuild()
    assert [one.what for one in home.retained()] == [RULE]


@pytest.mark.parametrize(
    "given",
    [
        "I am sorry, I cannot do that.",
        "{}",
        '{"memories": "none"}',
        answer(item(1, "fact", "Everything runs on zebra_cluster."), item(9, "rule", "Be nice!")),
        answer(item(1, "belief", CAUSE), item(9, "", RULE)),
    ],
    ids=["refused", "empty", "no list", "invented", "no kind"],
)
def test_where_an_answer_cannot_be_used_rules_and_selector_retain_what_they_did(
    home: Home, given: str
) -> None:
    before = home.retained()
    done = home.extract(ScriptedChat(given))
    assert done.exchanges == 0 and done.failed > 0 and home.retained() == before != []


@pytest.mark.slow
def test_a_memory_without_a_turn_is_kept_only_if_all_is_of_one_exchange(tmp_path: Path) -> None:
    for number, (script, kept) in enumerate([(bug_hunt(), 1), (two_requests(), 0)]):
        home = Home(tmp_path / str(number), script)
        assert home.extract(ScriptedChat(answer(item(None, "lesson", CAUSE)))).exchanges == kept
        home.memory.close()


def test_secrets_that_a_model_joins_are_redacted(home: Home) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    what = f"The retry wrapper ran load() a second time after a timeout with key {key[:4]}{key[4:]}"
    place = home.place_of("ran load() a second time")
    home.extract(ScriptedChat(answer(item(place, "lesson", CAUSE, why=what))))
    stored = b"".join(file.read_bytes() for file in (home.folder / "home").glob("memory.db*"))
    assert key.encode() not in stored


def long_exchange() -> Script:
    script = bug_hunt()
    for number in range(20):
        script.assistant(f"Step {number}: " + "the retry wrapper and the importer again. " * 20)
    script.assistant("In the end the importer keeps its idempotency key in the warehouse table.")
    return script


def answer_by_part(home: Home) -> Callable[[Question], str]:
    """Answers with what the part of the session that is shown says."""
    first, last = home.place_of("ran load() a second time"), home.place_of("warehouse table")

    def respond(question: Question) -> str:
        found = [item(first, "lesson", CAUSE)] if f"\n[{first} " in question.text else []
        if f"\n[{last} " in question.text:
            what = "The importer keeps its idempotency key in the warehouse table."
            found.append(item(last, "fact", what))
        return answer(*found)

    return respond


@pytest.mark.slow
def test_a_long_exchange_is_read_to_its_end_in_parts_that_know_of_each_other(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, long_exchange())
    chat = ScriptedChat(answer_by_part(home))
    assert home.extract(chat, tokens=3000).exchanges == 1
    assert len(chat.asked) > 1
    assert {one.kind for one in home.retained()} == {Kind.LESSON, Kind.FACT}
    later = chat.asked[-1].text
    assert "context: what came before\n[user] The nightly import loads every row twice" in later
    assert all(len(question.text.encode()) < 3000 * 3 + 3000 for question in chat.asked)
    home.memory.close()


@pytest.mark.slow
def test_a_part_that_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    home = Home(tmp_path, long_exchange())
    respond = answer_by_part(home)
    chat = ScriptedChat(respond)
    assert (
        "are spent" in home.extract(chat, tokens=3000, caps=SpendCaps(8000, 10, 10**9, 10)).stopped
    )
    assert len(chat.asked) == 1
    rest = ScriptedChat(respond)
    assert home.extract(rest, tokens=3000).exchanges == 1
    shown = [
        question.text.rpartition("\n")[0].partition(" exchange 1\n")[2]
        for question in (*chat.asked, *rest.asked)
    ]
    assert len(set(shown)) == len(shown) > 1
    assert {one.kind for one in home.retained()} == {Kind.LESSON, Kind.FACT}
    home.memory.close()


def test_a_session_that_goes_on_is_asked_about_with_what_is_known_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path, bug_hunt())
    place = home.place_of("ran load() a second time")
    home.extract(ScriptedChat(answer(item(place, "lesson", CAUSE))))
    home.read(two_requests())
    chat = ScriptedChat(answer())
    home.extract(chat)
    (question,) = chat.asked
    assert f"remembered of this session already\n- {CAUSE}" in question.text
    assert "context: what came before\n- bugfix, done: " in question.text
    assert "[1 user]" not in question.text and RULE in question.text
    assert [one.what for one in home.retained()] == [CAUSE]
    home.memory.close()


def test_names_from_another_exchange_and_the_projects_own_may_be_used(home: Home) -> None:
    what = "Every import in tidewatch must pass an idempotency key, also that in src/importer.py."
    home.extract(ScriptedChat(answer(item(home.place_of(RULE), "rule", what))))
    assert [one.what for one in home.retained()] == [what]


@pytest.mark.slow
def test_neither_a_corrected_exchange_nor_what_memory_said_is_shown(tmp_path: Path) -> None:
    script = two_requests()
    script.user("What do we know about the quay wall in the harbour, and who asked for it?")
    script.tool("mcp__holdfast__recall", '{"bank": "tidewatch", "hits": []}', query="quay wall")
    script.assistant("Memory says that the quay wall is inspected every spring by the port office.")
    home = Home(tmp_path, script)
    (session,) = home.memory.reader.sessions.latest(None)
    first, *_ = home.memory.reader.sessions.exchanges(session.bank, session.id)
    home.memory.correct(first.id, "The report counted twice.")
    chat = ScriptedChat(answer())
    home.extract(chat)
    (question,) = chat.asked
    assert RULE in question.text and "Please find out why" not in question.text
    assert "port office" not in question.text
    home.memory.close()


@pytest.mark.slow
def test_what_older_prompts_extracted_stays_and_is_not_paid_for_again(home: Home) -> None:
    place = home.place_of("ran load() a second time")
    home.extract(ScriptedChat(answer(item(place, "lesson", CAUSE))))
    older = [{"network": "opinion", "what": CAUSE, "where": "", "who": "", "why": "",
              "confidence": 0.7}]  # fmt: skip
    with closing(sqlite3.connect(home.memory.settings.database)) as raw, raw:
        raw.execute("UPDATE model_summary SET version = 1")
        raw.execute(
            "UPDATE model_summary SET content = ? WHERE content LIKE '%retry%'",
            (json.dumps(older),),
        )
    home.memory.ingestion.rebuild()
    chat = ScriptedChat(answer())
    assert home.extract(chat) == ExtractionReport() and chat.asked == []
    (kept,) = home.retained()
    assert kept.network is Network.OPINION and kept.confidence == 0.7 and kept.kind is None


@pytest.mark.slow
def test_a_model_with_a_small_context_gets_smaller_prompts(tmp_path: Path) -> None:
    home = Home(tmp_path, long_exchange())
    respond = answer_by_part(home)

    def small(question: Question) -> str:
        if len(question.system + question.text) // 3 + question.tokens > 5000:
            raise ModelTooLongError("It said 400: maximum context length.")
        return respond(question)

    assert home.extract(ScriptedChat(small)).exchanges == 1
    assert {one.kind for one in home.retained()} == {Kind.LESSON, Kind.FACT}
    home.memory.close()


def test_extracted_memories_do_not_count_as_a_summary_of_their_exchange(home: Home) -> None:
    """Neither where no model has summarised it, nor where one did with older prompts."""
    store = home.memory.store
    (session,) = home.memory.reader.sessions.latest(None)
    last = home.memory.reader.sessions.exchanges(session.bank, session.id)[-1]
    digest = home.memory.reader.sessions.digest(session.bank, session.id)
    assert digest is not None
    home.extract(ScriptedChat(answer(item(home.place_of(RULE), "rule", RULE))))
    with store.transaction():
        tried = ModelSummary(
            session.bank, "d", PROMPT_VERSION, "digest", digest.id, last.last_seq, "m", NOW, "",
            "too short",
        )  # fmt: skip
        store.summaries.put(tried, session.id, 0)
    assert store.summaries.unsummarised_sessions("", PROMPT_VERSION)
    with closing(sqlite3.connect(home.memory.settings.database)) as raw, raw:
        raw.execute("UPDATE exchange SET author = 'm'")
    assert store.versions.outdated_summaries(PROMPT_VERSION) == [(session.bank, session.id)]
