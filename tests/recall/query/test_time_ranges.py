from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.recall.query.recent_work import asks_for_recent_work
from holdfast.recall.query.time_ranges import TimeRange, read_time_range

# A Wednesday.
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)
LANDMARKS = {
    "release": datetime(2026, 10, 1, 12, tzinfo=UTC),
    "last release": datetime(2026, 10, 1, 12, tzinfo=UTC),
    "v1.4.0": datetime(2026, 6, 1, tzinfo=UTC),
    "v2": datetime(2026, 9, 1, tzinfo=UTC),
    "last session": datetime(2026, 11, 17, 9, tzinfo=UTC),
    "last commit": datetime(2026, 11, 18, 8),
}


def read(query: str, now: datetime = NOW) -> TimeRange | None:
    return read_time_range(query, now, LANDMARKS.get)


def short(time: str) -> str:
    """A time without what is zero: the day alone at midnight."""
    return time.removesuffix(":00.000Z").removesuffix("T00:00")


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("today", "2026-11-18", "2026-11-19"),
        ("what did we do yesterday?", "2026-11-17", "2026-11-18"),
        ("the day before yesterday", "2026-11-16", "2026-11-17"),
        ("last night", "2026-11-17T18:00", "2026-11-18T06:00"),
        ("yesterday afternoon", "2026-11-17T12:00", "2026-11-17T18:00"),
        ("3 days ago", "2026-11-15", "2026-11-16"),
        ("two weeks ago", "2026-11-01", "2026-11-08"),
        ("2 months ago", "2026-09-03", "2026-10-04"),
        ("a year ago", "2025-05-19", "2026-05-21"),
        ("a few days ago", "2026-11-11", "2026-11-17"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("the past week", "2026-11-11", "2026-11-19"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("the week before last", "2026-11-02", "2026-11-09"),
        ("last 10 days", "2026-11-08", "2026-11-19"),
        ("last 2 hours", "2026-11-18T13:30", "2026-11-18T15:30"),
        ("recently", "2026-11-04", "2026-11-19"),
        ("over the weekend", "2026-11-14", "2026-11-16"),
    ],
)
def test_a_relative_time_in_words_is_parsed(query: str, start: str, end: str) -> None:
    when = read(query)
    assert when
    assert (short(when.start), short(when.end), when.only_time) == (start, end, True)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("on Monday", "2026-11-16", "2026-11-17"),
        ("last Tuesday", "2026-11-17", "2026-11-18"),
        ("last Wednesday", "2026-11-11", "2026-11-12"),
        ("last Wednesday evening", "2026-11-11T18:00", "2026-11-12"),
        ("Tuesday last week", "2026-11-10", "2026-11-11"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in may", "2026-05-01", "2026-06-01"),
        ("last November", "2025-11-01", "2025-12-01"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("2026-03-05", "2026-03-05", "2026-03-06"),
        ("2026-03", "2026-03-01", "2026-04-01"),
        ("5 March 2026", "2026-03-05", "2026-03-06"),
        ("the 5th of March", "2026-03-05", "2026-03-06"),
        ("March 5th", "2026-03-05", "2026-03-06"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("in 2024", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_date_in_words_is_parsed(query: str, start: str, end: str) -> None:
    when = read(query)
    assert when
    assert (short(when.start), short(when.end)) == (start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("from 9 to 15 March", "2026-03-09", "2026-03-16"),
        ("between March and May", "2026-03-01", "2026-06-01"),
        ("between May and March", "2025-05-01", "2026-04-01"),
        ("from December to February", "2025-12-01", "2026-03-01"),
        ("March–May", "2026-03-01", "2026-06-01"),
        ("from Monday to Wednesday", "2026-11-16", "2026-11-19"),
        ("before March", "", "2026-03-01"),
        ("after March", "2026-04-01", ""),
        ("since March", "2026-03-01", ""),
        ("from March on", "2026-03-01", ""),
        ("until June", "", "2026-07-01"),
        ("prior to yesterday", "", "2026-11-17"),
        ("after March and before May", "2026-04-01", "2026-05-01"),
        ("in March and in May", "2026-03-01", "2026-06-01"),
        ("until now", "", "2026-11-18T15:30"),
        ("since 2026-03-05T12:00:00Z", "2026-03-05T12:00", ""),
        ("before the release", "", "2026-10-01T12:00"),
        ("since the last release", "2026-10-01T12:00", ""),
        ("since v2", "2026-09-01", ""),
        ("since the last session", "2026-11-17T09:00", ""),
        ("between v1.4.0 and v2", "2026-06-01", "2026-09-01"),
    ],
)
def test_a_range_is_parsed_and_a_landmark_is_looked_up(query: str, start: str, end: str) -> None:
    when = read(query)
    assert when
    assert (short(when.start), short(when.end)) == (start, end)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "it may fail",
        "tell me about march",
        "he sat on it",
        "the second argument",
        "the last minute change",
        "first week of the sprint",
        "v2_api and before_v2",
        "before the v3 cut",
        "since we moved it",
        "monday.com integration",
        "`Monday` and monday()",
        "every Monday",
        "next week and next March",
        "open 2026-03-05-notes.md",
        "2026-03-05 12:00:01 ERROR boom",
        "at 2026-03-05T12:00:01Z it failed",
        "in 2024 ms",
        "after 2000 iterations",
        "least recently used cache",
        "30 days of retention",
        "in 2 weeks",
        "9999 years ago",
        "from the parser to the lexer",
        "a mail from Jan",
        "it is gone by now",
        "two days before the moon",
        "since 2026-03-05Tnoon",
        "February 30, 2025",
        "call 555-12345-67",
    ],
)
def test_text_that_only_resembles_a_time_is_not_parsed(query: str) -> None:
    assert read(query) is None


@pytest.mark.parametrize("far", ["2200-01-01", "9999-12-31"])
def test_a_day_after_all_records_bounds_a_range(far: str) -> None:
    since, before, on = (read(f"what was done {word} {far}") for word in ("since", "before", "on"))
    assert since and before and on
    assert not since.contains("2199-11-30T00:00:00.000Z") and since.only_time
    assert before.contains("2199-11-30T00:00:00.000Z")
    assert not on.contains("2199-11-30T00:00:00.000Z")


@pytest.mark.parametrize("far", ["1969-12-31", "0001-01-01"])
def test_a_day_before_all_records_bounds_a_range(far: str) -> None:
    since, before = (read(f"what was done {word} {far}") for word in ("since", "before"))
    assert since and since.contains("1970-01-02T00:00:00.000Z")
    assert before and not before.contains("1970-01-01T00:00:00.000Z")


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("Was haben wir am 2026-03-05 entschieden?", "2026-03-05", "2026-03-06"),
        ("Qu'est-ce que nous avons fait en 2026-03 ?", "2026-03-01", "2026-04-01"),
        ("Was war zwischen 2026-03-05 und 2026-03-08?", "2026-03-05", "2026-03-09"),
    ],
)
def test_in_other_languages_dates_in_iso_form_are_read(query: str, start: str, end: str) -> None:
    when = read(query)
    assert when
    assert (short(when.start), short(when.end)) == (start, end)


def test_the_time_phrase_is_separated_from_the_rest_of_the_query() -> None:
    when = read("What did we decide about the parser last week, after v2?")
    assert when
    assert when.phrase == "last week after v2"
    assert when.rest == "What did we decide about the parser , ?"
    assert not when.only_time


@pytest.mark.parametrize(
    ("query", "only"),
    [
        ("what happened last week?", True),
        ("what have I been working on since Monday", True),
        ("show me everything from last month", True),
        ("any news since yesterday?", True),
        ("summary of this week's work", True),
        ("which tests broke yesterday", False),
        ("retry wrapper last week", False),
    ],
)
def test_a_query_of_only_a_time_is_marked_as_such(query: str, only: bool) -> None:
    when = read(query)
    assert when
    assert when.only_time is only


def test_days_are_those_of_the_users_time_zone() -> None:
    when = read("yesterday", NOW.astimezone(timezone(timedelta(hours=10))))
    assert when
    # There it is the 19th already.
    assert (when.start, when.end) == ("2026-11-17T14:00:00.000Z", "2026-11-18T14:00:00.000Z")
    assert read("yesterday", NOW.replace(tzinfo=None)) == read("yesterday")


def test_an_hour_repeated_by_daylight_saving_does_not_reverse_a_range() -> None:
    marks = {
        "v1": datetime(2026, 10, 25, 0, 45, tzinfo=UTC),
        "v2": datetime(2026, 10, 25, 1, 15, tzinfo=UTC),
        "v3": datetime(1, 1, 1, tzinfo=UTC),
    }
    now = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    when = read_time_range("between v1 and v2", now, marks.get)
    assert when
    assert (short(when.start), short(when.end)) == ("2026-10-25T00:45", "2026-10-25T01:15")
    assert read_time_range("since v3", now, marks.get) is None


def test_a_time_range_includes_its_start_and_excludes_its_end() -> None:
    when = read("yesterday")
    assert when
    assert when.contains("2026-11-17T00:00:00.000Z")
    assert not when.contains("2026-11-18T00:00:00.000Z")
    assert not when.contains("")
    since = read("since yesterday")
    assert since and since.contains("2030-01-01T00:00:00.000Z")


def test_a_landmark_is_looked_up_by_its_words_the_longest_first() -> None:
    asked: list[str] = []
    read_time_range("since the last release what changed in the parser?", NOW, asked.append)
    assert asked == ["last release"]
    asked.clear()
    assert read_time_range("since Monday", NOW, asked.append)
    assert asked == []


def test_in_a_long_text_only_the_first_and_last_line_are_read_for_a_time() -> None:
    log = "2025-01-01 on Monday it failed\n" * 3000
    assert read(f"look:\n{log}thanks") is None
    when = read(f"look:\n{log}did we see that last week?")
    assert when and when.phrase == "last week"


_WORDS = st.sampled_from(
    "the last this past first second a few couple of two 3 12 31 99 2024 9999 day days week weeks "
    "month year quarter ago before after since until by between from to and in on early mid- late "
    "end beginning half morning night weekend Monday sat March may Dec 5th 29 Q1 spring winter "
    "2026-03-05 3/5/2026 yesterday today now recently earlier v2 release next . , – -".split()
)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.one_of(st.text(), st.lists(_WORDS, max_size=14).map(" ".join)))
def test_any_text_is_parsed_and_no_range_ends_before_it_starts(query: str) -> None:
    when = read(query)
    asks_for_recent_work(query)
    if when is None:
        return
    assert when.phrase and (when.start or when.end)
    assert not (when.start and when.end) or when.start <= when.end
    for time in filter(None, (when.start, when.end)):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time)


@pytest.mark.parametrize(
    "word", ["since ", "early ", "first week of ", "from March to ", '"', "\n"]
)
def test_a_long_text_is_read_no_further_than_two_lines(word: str) -> None:
    asked: list[str] = []
    read_time_range(word * (100_000 // len(word)), NOW, asked.append)
    asks_for_recent_work(word * (100_000 // len(word)))
    assert len(asked) < 1000


@pytest.mark.parametrize(
    "query",
    [
        "what was I working on?",
        "what was I working on in parser.py",
        "where did we leave off?",
        "what is left to do?",
        "What’s left?",
        "what remains to be done?",
        "what should we do next?",
        "continue where we stopped",
        "please continue",
        "summarise my last session",
        "what happened in the last session",
        "catch me up",
        "where were we?",
        "what are our next steps?",
        "where do we stand?",
        "what's my current task?",
    ],
)
def test_a_question_about_the_users_latest_work_is_recognised(query: str) -> None:
    assert asks_for_recent_work(query)


@pytest.mark.parametrize(
    "query",
    [
        "what is next_token for",
        "what's next.js used for",
        "what is left join",
        "what is open file limit",
        "where were we storing tokens",
        "where did we stop the server",
        "continue statement in python",
        "how does the last session expire",
        "what did we do about auth",
        "when the import broke, what did we do?",
        "what was I doing wrong with the lock?",
        "is it up to date",
        "resume upload feature",
        "",
    ],
)
def test_other_questions_are_not_about_the_latest_work(query: str) -> None:
    assert not asks_for_recent_work(query)
