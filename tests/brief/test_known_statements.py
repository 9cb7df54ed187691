from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.known_statements import KnownStatement, is_of_a_program, tellable
from holdfast.brief.session_brief import session_brief
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind, Memory, Network
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core.passages import memory_passage
from holdfast.refine.core.statement_similarity import own_words
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

RULE = "Internal changes are never breaking changes, only configuration behaviour is."
LESSON = "The root cause was that `import_rows` reads the harbour clock in local time."
TODO = "The alarm for spring tides is deferred until the new gauge is delivered."
FILLER = "Look at the buoys next, please, and tell me what they need."


def session(day: str, number: int, said: str, told: str) -> Script:
    """A session in which a person and an agent each say something."""
    script = session_on(day, number)
    script.user(said)
    script.assistant(told)
    return script


def later_sessions() -> list[Script]:
    """Three later sessions, which stand under "Where we left off" in place of those before."""
    asked = ("Which lamp of the pier is dark?", "Is the bell heard?", "What colour has the buoy?")
    told = ("The third lamp is dark.", "The bell of the tower is heard.", "The buoy turned green.")
    return [
        session(f"2026-10-0{n}", 90 + n, *one)
        for n, one in enumerate(zip(asked, told, strict=True), 1)
    ]


def retain(
    memory: Holdfast,
    text: str,
    kind: Kind,
    seen: int = 1,
    worth: float | None = 2.0,
    where: str = "",
    trust: Trust | None = None,
) -> None:
    """Keep a statement as a memory that rests on the turn that states it and its exchange, and has
    its trust unless another is given."""
    bank = memory.context.bank_id() or ""
    turn = find_turn(memory, text)
    exchanges = memory.store.sessions.exchanges(bank, turn.session)
    own = next(one for one in exchanges if one.first_seq <= turn.seq <= one.last_seq)
    id = content_id("known", text)
    one = Memory(
        bank,
        id,
        Network.WORLD,
        text,
        trust or turn.trust,
        when=turn.time,
        where=where,
        evidence_for=(uri("exchange", own.id), uri("turn", turn.id)),
        seen=seen,
        kind=kind,
        worth=worth,
    )
    with memory.store.transaction():
        memory.store.memories.put_retained(bank, id, one, memory_passage(one, turn.session))


def find_turn(memory: Holdfast, text: str) -> Turn:
    bank = memory.context.bank_id() or ""
    words = own_words(text).removesuffix("…")
    return next(
        turn
        for session in memory.reader.sessions.latest(bank)
        for turn in memory.reader.turns.of_session(bank, session.id, 1, 1000)
        if words in turn.text
    )


def brief_of(memory: Holdfast, tokens: int = 2000) -> str:
    return session_brief(memory.reader, memory.context.bank_id() or "", tokens, 0).text


def group(text: str, title: str) -> str:
    """The lines below a heading."""
    return text.partition(f"\n{title}")[2].partition("\n\n")[0]


def test_what_was_decided_learned_and_left_open_is_told_in_that_order(tmp_path: Path) -> None:
    first, last = session("2026-09-01", 1, RULE, LESSON), session("2026-09-02", 2, FILLER, TODO)
    with open_filled(tmp_path, first, last, *later_sessions()) as memory:
        for text, kind in ((RULE, Kind.RULE), (LESSON, Kind.LESSON), (TODO, Kind.TODO)):
            retain(memory, text, kind)
        text = brief_of(memory)
    assert f"2026-09-01 user: “{RULE}" in group(text, "Decided here")
    assert f"2026-09-01 cause: “{LESSON}" in group(text, "Learned here (in an agent's words")
    assert f"2026-09-02 agent: “{TODO}" in group(text, "Left open (in an agent's words)")
    places = [text.index(title) for title in ("Decided here", "Learned here", "Left open")]
    assert places == sorted(places)
    assert text.count(LESSON) == text.count(TODO) == 1


def test_a_remark_of_a_person_is_not_told_as_a_decision(tmp_path: Path) -> None:
    remark = "The harbour master called, since the weekend every alert comes twice."
    with open_filled(tmp_path, session("2026-09-01", 1, remark, "It is looked into.")) as memory:
        retain(memory, remark, Kind.FACT)
        text = brief_of(memory)
    assert "Decided here" not in text
    assert f"- 2026-09-01 user: “{remark}”" in group(text, "Known from earlier sessions")


def test_a_remark_that_is_not_worth_much_is_left_out_although_it_says_every(
    tmp_path: Path,
) -> None:
    remark = "The harbour master called, since the weekend every alert comes twice."
    with open_filled(tmp_path, session("2026-09-01", 1, remark, "It is looked into.")) as memory:
        bank = memory.context.bank_id() or ""
        for kind, is_told in ((Kind.FACT, False), (Kind.RULE, True)):
            retain(memory, remark, kind, worth=None)
            told = {one.id for one in tellable(memory.reader, bank)}
            assert (content_id("known", remark) in told) is is_told


def test_a_statement_can_be_opened_by_what_the_brief_names(tmp_path: Path) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, LESSON)) as memory:
        retain(memory, LESSON, Kind.LESSON, seen=2)
        brief = session_brief(memory.reader, memory.context.bank_id() or "", 2000, 0)
        name = uri("memory", content_id("known", LESSON))
        assert f"(memory/{name.rpartition('/')[2][:8]})" in brief.text
        assert {name, uri("turn", find_turn(memory, LESSON).id)} <= set(brief.records)


def test_links_are_told_by_their_names(tmp_path: Path) -> None:
    link = "**[the tide table](https://tides.example/a/b)**"
    said = f"The gauges read {link} of `[x](y)` only each hour."
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, said)) as memory:
        retain(memory, said, Kind.FACT)
        assert "“The gauges read the tide table of `[x](y)` only each hour.”" in brief_of(memory)


def test_what_a_person_lays_down_and_causes_are_told_however_low_their_score(
    tmp_path: Path,
) -> None:
    reason = "The push of the tide table failed because the harbour was not reachable."
    said = ((RULE, Kind.RULE), (LESSON, Kind.LESSON), (reason, Kind.LESSON))
    with open_filled(tmp_path, session("2026-09-01", 1, RULE, f"{LESSON} {reason}")) as memory:
        for text, kind in said:
            retain(memory, text, kind, worth=-1.8)
        told = {one.id for one in tellable(memory.reader, memory.context.bank_id() or "")}
    assert [content_id("known", text) in told for text, _ in said] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{ "command": ["git", "rebase"], "outcome": "always allow" }', True),
        ('[{"role": "user", "text": "Never rebase."}]', True),
        ("[353] tool exec_command result: never merged", True),
        ("[Image #1] Never show the names of pilots.", False),
        ("{{files}} must always be quoted.", False),
        (RULE, False),
    ],
)
def test_json_and_entries_of_logs_are_nobodys_words(text: str, expected: bool) -> None:
    assert is_of_a_program(text) is expected


def test_json_that_a_person_pasted_is_not_told_as_decided(tmp_path: Path) -> None:
    pasted = '{ "risk": "low", "rule": "Never rebase the branch of the gauges from now on." }'
    with open_filled(
        tmp_path, session("2026-09-01", 1, pasted, LESSON), session("2026-09-02", 2, RULE, LESSON)
    ) as memory:
        told = brief_of(memory)
    assert RULE in told and "Never rebase" not in told


def test_a_decision_hides_what_it_is_about_and_not_all_that_is_said_of_its_files(
    tmp_path: Path,
) -> None:
    path = "/home/dev/proj/src/gauge_panel.py"
    other = "The gauge panel must draw the wind rose in the corner that is nearest to the harbour."
    outdated = "The gauge panel shows the name of the current pilot beside each reading."
    rose = session("2026-08-31", 3, "Draw the wind rose in a corner, please.", other)
    first = session("2026-09-01", 1, "Show who is on duty beside the readings.", outdated)
    later = session_on("2026-09-02", 2)
    later.user("We decided that the panel never shows the name of the current pilot.")
    later.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")
    later.assistant(
        "The name is gone. The gauge panel still draws the wind rose in the corner of the harbour."
    )
    with open_filled(tmp_path, rose, first, later) as memory:
        for text in (other, outdated):
            retain(memory, text, Kind.FACT, where="src/gauge_panel.py")
        told = brief_of(memory)
    assert "wind rose in the corner" in told and outdated not in told


CAUSES = (
    "The log is wrong because the gauge sends its readings twice.",
    "The import fails because `read_rows` returns nothing for leap years.",
    "The map never loads because of a lock on the berths.",
    "The pilot's tablet can't connect because the certificate is empty.",
    "The bill is wrong because the invoice run skips the last customer.",
    "The lamp is slow because the tower has one bulb for two crews.",
)


def retained_causes(memory: Holdfast, worth: list[float | None], first_seen: int = 1) -> list[str]:
    """What is learned, in its order, of causes with these scores, the first seen so often."""
    for text, score in zip(CAUSES, worth, strict=True):
        retain(memory, text, Kind.LESSON, first_seen if text == CAUSES[0] else 1, score)
    told = group(brief_of(memory, 440), "Learned here")
    return sorted((text for text in CAUSES if text in told), key=told.index)


@pytest.mark.slow
def test_what_is_worth_most_is_told_first_and_what_has_no_room_is_not(tmp_path: Path) -> None:
    scripts = [session(f"2026-09-0{n}", n, FILLER, text) for n, text in enumerate(CAUSES, 1)]
    with open_filled(tmp_path, *scripts, update_every=6) as memory:
        told = retained_causes(memory, [3.0, 0.5, 2.0, None, 2.5, -0.5])
    assert told[:3] == [CAUSES[0], CAUSES[4], CAUSES[2]]
    assert CAUSES[5] not in told


def test_what_occurs_in_more_sessions_is_told_before_the_rest(tmp_path: Path) -> None:
    scripts = [session(f"2026-09-0{n}", n, FILLER, text) for n, text in enumerate(CAUSES, 1)]
    with open_filled(tmp_path, *scripts, update_every=6) as memory:
        assert retained_causes(memory, [3.0] * 6, first_seen=3)[0] == CAUSES[0]
        assert f"“{CAUSES[0]}” (in 3 sessions)" in brief_of(memory)


def test_what_a_session_used_is_told_before_the_rest(tmp_path: Path) -> None:
    scripts = [session(f"2026-09-0{n}", n, FILLER, text) for n, text in enumerate(CAUSES, 1)]
    with open_filled(tmp_path, *scripts, update_every=6) as memory:
        use = RecordUse(uri("memory", content_id("known", CAUSES[3])), "later", "", "2026-09-09")
        memory.store.facts.put_uses(memory.context.bank_id() or "", [use])
        assert retained_causes(memory, [3.0] * 6)[0] == CAUSES[3]


@pytest.mark.slow
def test_twelve_trivial_sessions_do_not_push_out_what_was_found_before(tmp_path: Path) -> None:
    work = session("2026-07-02", 1, "Find out why the harbour clock is wrong.", LESSON)
    trivial = [
        session(f"2026-09-{n:02}", n, said, "Committed.")
        for n, said in enumerate(("yes", "commit", "https://example.org/a/b", "Да") * 3, 2)
    ]
    with open_filled(tmp_path, work, *trivial, update_every=13) as memory:
        bank = memory.context.bank_id() or ""
        text = session_brief(memory.reader, bank, 2000, 12).text
    assert LESSON in text
    assert not any(f": {said} ~" in text for said in ("yes", "commit", "https://example", "Да"))


def test_what_was_only_proposed_is_left_out(tmp_path: Path) -> None:
    proposal = "The gauge of the harbour sends its readings at once. I could hold them until seven."
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, proposal)) as memory:
        retain(memory, proposal, Kind.FACT, worth=3.0)
        assert "hold them until seven" not in brief_of(memory).partition("Known from")[2]


def test_of_two_values_in_one_matter_the_later_is_told(tmp_path: Path) -> None:
    old = "The readings of the gauge are kept for 30 days in the archive."
    new = "The readings of the gauge are kept for 12 hours in the archive."
    with open_filled(
        tmp_path, session("2026-09-01", 1, FILLER, old), session("2026-09-02", 2, FILLER, new)
    ) as memory:
        retain(memory, old, Kind.FACT, worth=3.5)
        retain(memory, new, Kind.FACT, worth=1.0)
        text = brief_of(memory)
    assert new in text and old not in text


def test_what_an_agent_says_has_ended_is_left_out_and_the_rest_is_told(tmp_path: Path) -> None:
    before = "We cache answers of the gauge in Redis for six minutes, as it publishes that often."
    beside = (
        "The gauge of the west pier publishes its answers as XML only, which the parser streams."
    )
    after = "We no longer cache answers of the gauge in Redis: they are a table in SQLite now."
    scripts = [
        session("2026-07-01", 1, FILLER, before),
        session("2026-07-02", 2, FILLER, beside),
        session("2026-07-03", 3, FILLER, after),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        retain(memory, before, Kind.FACT, worth=3.5)
        retain(memory, beside, Kind.FACT)
        retain(memory, after, Kind.FACT, worth=1.0)
        text = brief_of(memory)
    assert before not in text
    assert beside in text and after in text


@pytest.mark.parametrize(
    ("text", "kind", "by_person"),
    [
        (
            "Don't open a pull request for the gauge just yet, it must be read first.",
            Kind.RULE,
            True,
        ),
        ("Do we always have to restart the gauge of the harbour by hand?", Kind.RULE, True),
        ("I want you to always look at the gauge of the harbour before.", Kind.RULE, True),
        (
            "The root cause was that the parser of the gauge reads it twice, and…",
            Kind.LESSON,
            False,
        ),
        ("Let me look whether the root cause is in the parser of the gauge.", Kind.LESSON, False),
        ("Root cause: This matches what the gauge of the harbour has sent.", Kind.LESSON, False),
        ("12 tests fail because the fixture of the gauge is not found there.", Kind.LESSON, False),
        ("The gauge of the harbour was painted in a warm blue by the crew.", Kind.LESSON, False),
        ("The crew keeps the gauge blue because that is what people like.", Kind.LESSON, False),
        ("The import is currently failing because the gauge does not reply.", Kind.LESSON, False),
        ("The alarm that was deferred in spring is completed and delivered now.", Kind.TODO, False),
        ("The alarm for spring tides rings in the tower of the harbour.", Kind.TODO, False),
    ],
)
def test_what_nobody_could_use_without_its_context_is_left_out(
    tmp_path: Path, text: str, kind: Kind, by_person: bool
) -> None:
    said, told = (text, "Understood, that is clear now.") if by_person else (FILLER, text)
    with open_filled(tmp_path, session("2026-09-01", 1, said, told)) as memory:
        retain(memory, text, kind, worth=None)
        brief = brief_of(memory)
    shown = [group(brief, title) for title in ("Decided here", "Learned here", "Left open")]
    assert not any(text in part for part in shown)


@pytest.mark.model
def test_what_a_person_pasted_is_left_out(tmp_path: Path) -> None:
    rest = "Then the buoys are painted anew. "
    typed = f"Carry out this plan. {RULE} {rest * 12}"
    pasted = f"# Plan\n\n{RULE}\n\n{rest * 12}"
    specification = f"{RULE} {rest * 60}"
    for number, (plan, is_told) in enumerate(
        ((typed, True), (pasted, False), (specification, False)), 1
    ):
        with open_filled(
            tmp_path / str(number), session("2026-09-01", number, plan, "The plan is carried out.")
        ) as memory:
            retain(memory, RULE, Kind.RULE)
            assert (RULE in group(brief_of(memory), "Decided here")) is is_told


def test_what_an_agent_was_told_by_another_is_left_out(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user(f'<teammate-message teammate_id="lead">{RULE}</teammate-message>')
    script.assistant(LESSON)
    with open_filled(tmp_path, script) as memory:
        retain(memory, RULE, Kind.RULE)
        retain(memory, LESSON, Kind.LESSON)
        brief = brief_of(memory)
    assert RULE not in group(brief, "Decided here") and "Learned here" not in brief


def test_what_another_agent_reports_to_a_session_of_a_person_is_told(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("Let the team find out why the harbour clock is wrong.")
    script.user(f'<teammate-message teammate_id="clocks">{LESSON}</teammate-message>')
    script.assistant("The team has found it out.")
    with open_filled(tmp_path, script) as memory:
        retain(memory, LESSON, Kind.LESSON)
        assert f"cause: “{LESSON}" in group(brief_of(memory), "Learned here")


def test_what_was_forgotten_or_is_not_held_any_more_is_left_out(tmp_path: Path) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, LESSON)) as memory:
        retain(memory, LESSON, Kind.LESSON)
        assert LESSON in group(brief_of(memory), "Learned here")
        memory.forget(uri("turn", find_turn(memory, LESSON).id))
        assert LESSON not in group(brief_of(memory), "Learned here")


def test_the_size_of_the_brief_is_kept(tmp_path: Path) -> None:
    with open_filled(
        tmp_path, session("2026-09-01", 1, RULE, LESSON), session("2026-09-02", 2, FILLER, TODO)
    ) as memory:
        for text, kind in ((RULE, Kind.RULE), (LESSON, Kind.LESSON), (TODO, Kind.TODO)):
            retain(memory, text, kind)
        whole = brief_of(memory)
        for tokens in (250, 300, 350, 400):
            text = brief_of(memory, tokens)
            assert len(text) <= tokens * 4
            assert all(line in whole for line in text.split("\n") if line.startswith("- "))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It reads twice. (Fix the parser)", "It reads twice."),
        ("It reads (as told) twice. (Fix (all of) it)", "It reads (as told) twice."),
        ("It reads twice.", "It reads twice."),
    ],
)
def test_the_subject_behind_a_statement_is_none_of_its_own_words(text: str, words: str) -> None:
    assert own_words(text) == words


def known(text: str, said: str) -> KnownStatement:
    turn = Turn("b", "t", "s", 1, "2026-09-01T10:00:00Z", Role.ASSISTANT, Trust.ASSISTANT, said)
    return KnownStatement(Memory("b", "m", Network.WORLD, text, Trust.ASSISTANT), turn)


@pytest.mark.parametrize(
    ("text", "said", "told"),
    [
        # The subject of the session, which the turn does not have.
        (
            "The gauge module reads tides from the harbour clock. (Install pnpm, please)",
            "Done. The gauge module reads tides from the harbour clock.",
            "The gauge module reads tides from the harbour clock.",
        ),
        ("It reads them twice. (Fix the parser)", "It reads them twice.", ""),
        # Its own brackets.
        (
            "Created a lint file for the harbour that disables MD034 (no-bare-urls)",
            "Created a **lint file** for the harbour that disables MD034 (no-bare-urls), as asked.",
            "",
        ),
    ],
)
def test_the_subject_is_told_only_where_the_statement_needs_it(
    text: str, said: str, told: str
) -> None:
    assert known(text, said).text == (told or text)


@pytest.mark.parametrize(
    "text",
    [
        "`make test` failed with “NameError: tide”; it passed after changes to src/tide.py",
        "Update the `renderer.py` to calculate the aggregated usage of all the harbours",
        "Gauge work: Add a column for spring tides to the table of the harbours",
        "Question 2 of 4: the lamp of the pier must be red, because the buoys are green.",
        "3. Paint the old pier first, because its lamps are the ones that fail at night.",
        "Where you interrupted: I tried to read the gauge of the pier, because it was stale.",
        "Commits — `fa8bbbb6` feat: the gauge reads twice, because the first answer is stale.",
        "The lamp is not read at night. I am now exiting so that the next run can begin.",
    ],
)
def test_failed_runs_and_what_is_of_the_moment_are_not_told(tmp_path: Path, text: str) -> None:
    said = f"Run `make tides` first, because the harbours only read that table. {text}"
    script = session("2026-09-01", 1, FILLER, said)
    script.user("Is the lamp of the western pier painted by now?")
    script.assistant("It was painted in green, and dries until the evening.")
    with open_filled(tmp_path, script) as memory:
        retain(memory, text, Kind.FACT)
        retain(
            memory, "Run `make tides` first, because the harbours only read that table.", Kind.FACT
        )
        told = group(brief_of(memory), "Known from earlier sessions")
        assert text not in told and "Run `make tides`" in told


def test_what_is_not_working_may_be_mended_by_now(tmp_path: Path) -> None:
    text = "The gauge files are there, but the server isn't sending them to the harbours."
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, text)) as memory:
        retain(memory, text, Kind.FACT)
        assert text in group(brief_of(memory), "Learned here")
