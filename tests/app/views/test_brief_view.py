"""Briefs line by line: of the next session, and as a transcript has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.views.brief_view import (
    BriefCache,
    InjectedText,
    brief_lines,
    injected_texts,
    next_brief,
)
from holdfast.brief.frame import Brief
from holdfast.brief.injection_outcomes import settle_injections
from holdfast.brief.prepared_files import write_briefs
from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script, bug_hunt

pytestmark = pytest.mark.slow

LATER = "22222222-0000-4000-8000-000000000002"
TOLD_AT, OVER = "2026-09-01T09:00:00Z", "2026-09-03T12:00:00.000Z"
RULE = "We decided: from now on retries of the importer need an idempotency key."


def _memory(folder: Path) -> Holdfast:
    """A memory of a bug hunt that ended in a rule."""
    script = bug_hunt()
    script.user(RULE)
    script.assistant("Noted.")
    script.write(folder / "p")
    memory = Holdfast(with_empty_memory(Settings(home=folder / "home", claude_dir=folder)))
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


def _tell(memory: Holdfast, folder: Path, *said: str, attached: bool = True) -> InjectedText:
    """A later session that was told the brief, said this, and is over: what became of the brief."""
    bank = memory.reader.banks.all()[0].id
    brief = memory.briefs.session_brief(bank)
    script = Script(LATER)
    if attached:
        attachment = {"type": "hook_additional_context", "content": [f"before\n{brief.text}\n"]}
        script.add({"type": "attachment", "sessionId": LATER, "attachment": attachment})
    for place, text in enumerate(said):
        (script.assistant if place % 2 else script.user)(text)
    script.write(folder / "p")
    memory.ingest(memory.ingestion.find([folder / "p"]))
    told = Injection(
        f"{brief.id}.{LATER}.1", bank, LATER, TOLD_AT, InjectionKind.START, len(brief.text),
        brief.records,
    )  # fmt: skip
    with memory.store.transaction():
        memory.store.injections.add(told)
    settle_injections(memory.store, OVER)
    (session,) = [s for s in memory.reader.sessions.latest(bank) if s.host == LATER]
    (found,) = injected_texts(memory, session)
    return found


def test_each_line_of_the_next_brief_names_its_record(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        bank = memory.reader.banks.all()[0].id
        view = next_brief(memory, bank)
        brief = memory.briefs.session_brief(bank)
        assert view.text == brief.text and view.id == brief.id
        assert [line.text for line in view.lines] == brief.text.split("\n")[1:-1]
        said = [line for line in view.lines if line.text.startswith("- ")]
        assert said and all(line.uri in brief.records and line.can_forget for line in said)
        (rule,) = [line for line in said if "/fact/" in line.uri]
        assert rule.words is not None and "idempotency key" in rule.words and rule.seen
        assert 0 < view.tokens <= view.limit_tokens


def test_what_is_forgotten_is_not_told_to_the_next_session(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        bank = memory.reader.banks.all()[0].id
        (rule,) = [line for line in next_brief(memory, bank).lines if "/fact/" in line.uri]
        memory.forget(rule.uri, bank, "ada")
        assert rule.text not in next_brief(memory, bank).text


def test_a_bank_with_nothing_to_tell_has_no_lines(tmp_path: Path) -> None:
    with Holdfast(
        with_empty_memory(Settings(home=tmp_path / "home", claude_dir=tmp_path, bank="proj"))
    ) as memory:
        kept = memory.remember("The winch is blue.")
        assert next_brief(memory, kept.bank).lines
        memory.forget(kept.id)
        assert next_brief(memory, kept.bank).lines == () and brief_lines(Brief()) == []


def test_a_line_that_was_cited_is_used_and_the_others_are_ignored(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        bank = memory.reader.banks.all()[0].id
        (fact,) = memory.browse.facts(bank, kind="rule")
        told = _tell(memory, tmp_path, "Look at the job.", f"By fact/{fact.id[:8]}, a key.")
        assert told.injection.use is InjectionUse.CITED
        by_line = {line.uri: line.outcome for line in told.lines if line.text.startswith("- ")}
        used = by_line.pop(f"holdfast://fact/{fact.id}")
        assert used and used.use is InjectionUse.CITED and used.turn and "a key" in used.turn.text
        assert by_line and {o.use for o in by_line.values() if o} == {InjectionUse.IGNORED}


def test_the_line_that_a_person_contradicted_is_named(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        said = ("Look at it.", "It needs an idempotency key.")
        wrong = "No, that is outdated: retries have no idempotency key now."
        told = _tell(memory, tmp_path, *said, wrong)
        contradicted = [
            line.text
            for line in told.lines
            if line.outcome and line.outcome.use is InjectionUse.CONTRADICTED
        ]
        assert len(contradicted) == 1 and "idempotency key" in contradicted[0]


def test_a_text_that_no_transcript_has_any_more_is_told_by_its_records(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        told = _tell(memory, tmp_path, "Look at the job.", "It is fine.", attached=False)
        assert told.text == "" and told.lines == () and told.injection.records


def test_secrets_of_a_transcript_are_not_shown_with_a_brief(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        token = "ghp_" + "Zx81" * 9
        text = f'<holdfast-brief id="goal-abc">\n- the key is {token}\n</holdfast-brief>'
        script = Script(LATER)
        attachment = {"type": "hook_additional_context", "content": [text]}
        script.add({"type": "attachment", "sessionId": LATER, "attachment": attachment})
        script.user("Look at the job.")
        script.assistant("It is fine.")
        script.write(tmp_path / "p")
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        bank = memory.reader.banks.all()[0].id
        with memory.store.transaction():
            one = Injection("goal-abc.x.1", bank, LATER, TOLD_AT, InjectionKind.GOAL, 10)
            memory.store.injections.add(one)
        (session,) = [s for s in memory.reader.sessions.latest(bank) if s.host == LATER]
        (told,) = injected_texts(memory, session)
        assert "the key is" in told.text and token not in told.text


def test_a_brief_is_made_once_until_something_is_written(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        bank = memory.reader.banks.all()[0].id
        cache = BriefCache()
        made = cache.get(memory, bank)
        assert made.text and cache.get(memory, bank) is made
        memory.remember("Always moor the ketch with two lines.", bank)
        assert "moor the ketch" in cache.get(memory, bank).text


def test_the_prepared_brief_is_shown_as_long_as_it_is_right(tmp_path: Path) -> None:
    with _memory(tmp_path) as memory:
        bank = memory.reader.banks.all()[0].id
        assert write_briefs(
            memory.store, HomePaths(memory.settings.home), memory.settings.brief, memory.now()
        )
        file = HomePaths(memory.settings.home).briefs / f"{bank}.json"
        entry = json.loads(file.read_text())
        assert BriefCache().get(memory, bank).text == entry["text"]
        # What the next session gets is what stands in the file.
        file.write_text(json.dumps({**entry, "text": "as prepared"}))
        assert BriefCache().get(memory, bank).text == "as prepared"
        memory.remember("Always moor the ketch with two lines.", bank)
        assert "moor the ketch" in BriefCache().get(memory, bank).text
