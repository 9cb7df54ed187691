from typing import Any

import pytest

from holdfast.model.ledgers.lines import LineOutcome, SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.sources.conversation import describe_session, read_record
from holdfast.sources.draft import FileInfo

FILE = FileInfo("/t/talk.jsonl", "conversation", "talk", "/home/dev/proj")


def read(**record: Any) -> tuple[Role, str, str]:
    (turn,) = read_record(record, FILE).turns
    return turn.role, turn.speaker, turn.text


def test_a_line_becomes_a_turn_of_its_session() -> None:
    record = {
        "session": "s1",
        "id": "m1",
        "time": "2026-03-01T12:00:00+02:00",
        "speaker": "user",
        "text": " Hello \n",
    }

    reading = read_record(record, FILE)

    (turn,) = reading.turns
    assert (reading.outcome, reading.session, reading.ref) == (LineOutcome.CAPTURED, "s1", "m1")
    assert (turn.role, turn.trust, turn.text) == (Role.USER, Trust.IMPORT, "Hello")
    assert turn.time == "2026-03-01T10:00:00.000Z"


@pytest.mark.parametrize("speaker", ["assistant", "AI", "Claude", "bot", "model"])
def test_any_assistant_name_means_the_assistant(speaker: str) -> None:
    assert read(speaker=speaker, text="Hi") == (Role.ASSISTANT, "", "Hi")


@pytest.mark.parametrize(
    ("speaker", "name"), [("user", ""), ("Human", ""), ("Caroline", "Caroline"), (None, "")]
)
def test_a_person_keeps_their_name(speaker: object, name: str) -> None:
    assert read(speaker=speaker, text="Hi") == (Role.USER, name, "Hi")


@pytest.mark.parametrize(
    ("session", "expected"), [("s1", "s1"), (7, "7"), (0, "0"), ("", "talk"), (None, "talk")]
)
def test_a_line_without_a_session_belongs_to_its_file(session: object, expected: str) -> None:
    record = {"session": session, "text": "Hi"}

    described = describe_session(record, FILE)

    assert read_record(record, FILE).session == expected
    assert (described.id, described.host, described.cwd) == (expected, expected, "/home/dev/proj")


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_line_without_text_is_skipped(text: str) -> None:
    reading = read_record({"text": text}, FILE)

    assert (reading.outcome, reading.reason) == (LineOutcome.SKIPPED, SkipReason.EMPTY)


@pytest.mark.parametrize("record", [{}, {"text": None}, {"text": 5}, {"text": ["Hi"]}])
def test_a_line_of_the_wrong_shape_fails(record: dict[str, Any]) -> None:
    reading = read_record(record, FILE)

    assert (reading.outcome, reading.reason) == (LineOutcome.FAILED, "wrong-shape")


def test_turns_differ_by_session_id_speaker_and_text() -> None:
    base = {"session": "s", "id": "1", "speaker": "A", "text": "Hi"}
    others = [{**base, key: "other"} for key in base]

    keys = {read_record(record, FILE).turns[0].key for record in (base, *others)}

    assert len(keys) == 5
    assert read_record(dict(base), FILE) == read_record(base, FILE)
