"""Lines of any make: nothing may raise, and every line gets exactly one fate."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.model.ledgers.lines import FailureReason, LineOutcome
from holdfast.refine.ingest.turns import PrivacyRules, RefinedLines, RefinedTurn, refine_lines
from holdfast.sources.claude_code.records import describe_session, read_record
from holdfast.sources.draft import FileInfo
from holdfast.sources.json_fields import objects, string
from holdfast.sources.lines import Line

RECORDED = Path(__file__).parents[1] / "recorded" / "transcripts"
FILE = FileInfo("/t/s1.jsonl", "claude-code", "s1", "/home/dev/proj")
TALK = FileInfo("/t/talk.jsonl", "conversation", "talk", "")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORDS = TEXT | st.sampled_from(
    "user assistant attachment system summary text tool_use tool_result queued_command "
    "Bash Read Edit Write Task <command-name>/x <holdfast-brief> <private> sk-".split()
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
KEYS = WORDS | st.sampled_from(
    "type message content text input name id sessionId agentId uuid timestamp cwd attachment "
    "prompt is_error toolUseResult structuredPatch edits file_path offset limit".split()
)
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def recorded_records() -> list[dict[str, Any]]:
    """One real record of every type and every kind of content, at most 20 KB each."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(RECORDED.rglob("*-*-*.jsonl")):
        for data in path.read_bytes().splitlines():
            record: dict[str, Any] = orjson.loads(data)
            message: dict[str, Any] = record.get("message") or {}
            content: object = message.get("content")
            block = (objects(content) or [dict[str, Any]()])[0]
            shape = content.__class__.__name__
            kind = (record["type"], string(block, "type"), string(block, "name"), shape)
            if len(data) < 20_000:
                found.setdefault(str(kind), record)
    return list(found.values())


RECORDS = recorded_records()


def lines_of(*texts: bytes) -> list[Line]:
    offset, lines = 0, list[Line]()
    for data in texts:
        lines.append(Line(offset, len(data) + 1, data, True))
        offset += len(data) + 1
    return lines


def count_outcomes(refined: RefinedLines) -> int:
    return len(refined.captured) + sum(refined.skipped.values()) + len(refined.failed)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = list(value.items())  # type: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        inner = list(enumerate(value))  # type: ignore[reportUnknownArgumentType]
    return [(*path, key) for key, _ in inner] + [
        found for key, item in inner for found in paths_of(item, (*path, key))
    ]


def with_replaced(record: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    copy: dict[str, Any] = orjson.loads(orjson.dumps(record))
    place: Any = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


@st.composite
def damaged_records(draw: st.DrawFn) -> dict[str, Any]:
    record = draw(st.sampled_from(RECORDS))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths_of(record)))
        record = with_replaced(record, path, draw(JSON))
    return record


UNHASHABLE = "a type that is a list or an object cannot be looked up and raises TypeError"


def test_the_recorded_records_cover_messages_tools_and_attachments() -> None:
    kinds = {record["type"] for record in RECORDS}

    assert {"user", "assistant", "attachment", "system", "custom-title", "relocated"} <= kinds


@pytest.mark.parametrize("kind", [[], {}, ["user"], {"a": 1}])
def test_a_type_that_is_not_a_string_never_raises(kind: object) -> None:
    refined = refine_lines(lines_of(orjson.dumps({"type": kind})), 0, FILE, PrivacyRules())

    assert count_outcomes(refined) == refined.lines == 1


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("uuid"),
        "sessionId",
        "agentId",
        pytest.param("gitBranch"),
        "timestamp",
    ],
)
@pytest.mark.parametrize("value", [5, True, ["x"], {"a": 1}])
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_an_unexpected_value_in_a_known_field_never_raises(
    field: str, value: object, kind: str
) -> None:
    record: dict[str, Any] = {"type": kind, "uuid": "u", "message": {"content": "Hello"}}
    record[field] = value

    refined = refine_lines(lines_of(orjson.dumps(record)), 0, FILE, PrivacyRules())

    (turn,) = refined.events
    assert isinstance(turn, RefinedTurn)
    assert turn.text == "Hello"
    assert all(isinstance(part, str) for part in (turn.ref, turn.branch, turn.session, turn.time))
    assert list(refined.sessions) == [turn.session]


def check_reading(record: dict[str, Any]) -> None:
    """A record gives turns or results, or the reason why not; its session has an id."""
    read, session = read_record(record, FILE), describe_session(record, FILE)
    assert (read.outcome is LineOutcome.CAPTURED) == bool(read.turns or read.results or read.title)
    assert bool(read.reason) != (read.outcome is LineOutcome.CAPTURED)
    assert session.id and session.host and isinstance(session.cwd, str)


@pytest.mark.slow
@settings(max_examples=100)
@given(record=st.dictionaries(KEYS, JSON, max_size=6))
def test_reading_any_object_never_raises(record: dict[str, Any]) -> None:
    check_reading(record)


@pytest.mark.slow
@settings(max_examples=100)
@given(record=damaged_records())
def test_reading_a_real_record_with_any_damage_never_raises(record: dict[str, Any]) -> None:
    check_reading(record)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    records=st.lists(
        damaged_records() | st.dictionaries(KEYS, JSON, max_size=4) | JSON, max_size=5
    ),
    ascii_only=st.booleans(),
)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(FILE),
        TALK,
    ],
)
def test_every_line_of_any_json_gets_one_outcome(
    file: FileInfo, records: list[object], ascii_only: bool
) -> None:
    texts = [json.dumps(record, ensure_ascii=ascii_only).encode() for record in records]

    refined = refine_lines(lines_of(*texts), 0, file, PrivacyRules())

    assert refined.lines == len(texts) == count_outcomes(refined)
    assert refined.stop == sum(len(text) + 1 for text in texts)
    assert {event.session for event in refined.events} <= set(refined.sessions)


@pytest.mark.slow
@settings(max_examples=100)
@given(texts=st.lists(st.binary(max_size=60).map(lambda data: data.replace(b"\n", b""))))
def test_every_line_of_any_bytes_gets_one_outcome(texts: list[bytes]) -> None:
    refined = refine_lines(lines_of(*texts), 0, FILE, PrivacyRules())

    assert refined.lines == len(texts) == count_outcomes(refined)


@settings(max_examples=50)
@given(record=st.sampled_from(RECORDS), keep=st.floats(0, 0.999))
def test_an_incomplete_last_line_waits(record: dict[str, Any], keep: float) -> None:
    whole = orjson.dumps(record)
    torn = whole[: int(len(whole) * keep)] or b"{"
    first, last = lines_of(b"{}", torn)

    refined = refine_lines(
        [first, last._replace(ended=False, length=len(torn))], 0, FILE, PrivacyRules()
    )

    assert (refined.lines, refined.stop) == (1, 3)


def test_a_complete_last_line_without_newline_is_read() -> None:
    data = b'{"type":"user","uuid":"u","message":{"content":"Hi"}}'

    refined = refine_lines([Line(0, len(data), data, False)], 0, FILE, PrivacyRules())

    assert (refined.lines, refined.stop, refined.captured) == (1, len(data), {1})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"not json", FailureReason.NOT_JSON),
        (b'{"type":"user",}', FailureReason.NOT_JSON),
        (b"[1]", FailureReason.NOT_AN_OBJECT),
        (b"null", FailureReason.NOT_AN_OBJECT),
        (b'"user"', FailureReason.NOT_AN_OBJECT),
        (b'{"type":"user","message":5}', FailureReason.WRONG_SHAPE),
        pytest.param(
            b"[" * 5000 + b"]" * 5000,
            FailureReason.TOO_DEEP,
        ),
    ],
)
def test_an_unreadable_line_is_stored_with_its_reason(data: bytes, reason: FailureReason) -> None:
    refined = refine_lines(lines_of(b"{}", data), 0, FILE, PrivacyRules())

    ((line, offset, why, excerpt),) = refined.failed
    assert (line, offset, why) == (2, 3, reason)
    assert excerpt and data.decode().startswith(excerpt)


def test_the_excerpt_of_an_unreadable_line_is_redacted() -> None:
    key = "ghp_" + "a1B2" * 9
    refined = refine_lines(lines_of(f'{{"text": "{key}'.encode()), 0, FILE, PrivacyRules())

    assert key not in refined.failed[0][3]
    assert "[redacted:github-token]" in refined.failed[0][3]


def test_invalid_utf8_and_lone_surrogates_lose_a_character_and_not_the_line() -> None:
    template = b'{"type":"user","uuid":"u","message":{"content":"Fix %s now"}}'
    spoiled = [b"\xff", b"\\ud83d", b"\\ude00", b"\xed\xa0\xbd"]

    refined = refine_lines(lines_of(*(template % bad for bad in spoiled)), 0, FILE, PrivacyRules())

    texts = [event.text for event in refined.events if isinstance(event, RefinedTurn)]
    assert len(texts) == len(spoiled)
    assert all(text.startswith("Fix \ufffd") and text.endswith(" now") for text in texts)


@pytest.mark.parametrize(
    "depth",
    [
        500,
        pytest.param(
            1000,
        ),
    ],
)
def test_a_deeply_nested_tool_input_never_raises(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    block = b'{"type":"tool_use","id":"c","name":"mcp__a__b","input":{"x":%s}}' % nested
    data = b'{"type":"assistant","uuid":"u","message":{"content":[%s]}}' % block

    refined = refine_lines(lines_of(data), 0, FILE, PrivacyRules())

    assert count_outcomes(refined) == refined.lines == 1
