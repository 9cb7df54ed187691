"""The latest requests that were worked on, a line each, for a session brief that tells little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.brief.brief_page import Part
from holdfast.brief.frame import SHORT_ID, corrected_label, ended_label, format_day, origin_label
from holdfast.brief.known_statements import names_work
from holdfast.brief.statement_ranking import ReplacedWork, is_same_matter
from holdfast.brief.verdicts import Verdicts
from holdfast.brief.work_items import normalise_path
from holdfast.framed_text import one_line
from holdfast.language import content_stems, sentences, truncate
from holdfast.model.knowledge import EndReason
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, Outcome
from holdfast.model.uris import uri
from holdfast.recall.core.correction_notes import correction_note
from holdfast.recall.core.ended_words import EndedWords
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Reader

_SINCE_EVER = "0"
_UNFINISHED = (Outcome.OPEN, Outcome.FAILED, Outcome.INTERRUPTED)


class RecentWorkLimits(NamedTuple):
    """How much is looked at and told."""

    # Exchanges that are looked at: it bounds the time.
    exchanges: int = 120
    # The title of an exchange, and of its answer if the title is a question.
    title_characters: int = 90
    answer_characters: int = 160


_LIMITS = RecentWorkLimits()


class KnownMatters:
    """What a page tells already: sessions and matters; and what must not be told."""

    def __init__(
        self,
        sessions: frozenset[str],
        lines: Sequence[str],
        replaced: ReplacedWork,
        verdicts: Verdicts,
    ) -> None:
        self._verdicts = verdicts
        self._sessions = sessions
        self._matters = [content_stems(line) for line in lines]
        self._replaced = replaced

    def adds(self, x: Exchange) -> bool:
        """Whether the title of an exchange adds anything that holds. It is known from then on."""
        own = content_stems(x.title)
        name, time = uri("exchange", x.id), x.ended or x.started
        if self._verdicts.is_dropped(name):
            return False
        if self._verdicts.is_passed_over(name, time, lambda: x.session):
            return False
        if x.session in self._sessions or any(is_same_matter(own, it) for it in self._matters):
            return False
        self._matters.append(own)
        text, files = f"{x.title} {_answer(x)}", map(normalise_path, x.files_modified)
        return not self._replaced.is_decided_otherwise(text, x.ended or x.started, files)


def recent_work(
    reader: Reader, bank: str, most: int, ended: EndedWords, known: KnownMatters
) -> list[Part]:
    """The latest exchanges of sessions of which nothing else is told, a line each, with the tokens
    it would cost to read them."""
    parts: list[Part] = []
    last_day = ""
    filter = RecordFilter(since=_SINCE_EVER)
    for record in reader.records.filter(bank, filter, _LIMITS.exchanges) if most else ():
        if len(parts) == most:
            break
        if not isinstance(record, Exchange) or not _is_worth_listing(reader, record):
            continue
        if not known.adds(record):
            continue
        endings = ended.find(record.title, record.started, record.session, record.first_seq)
        if any(one.reason is EndReason.FORGOTTEN for one in endings):
            continue
        day = format_day(record.started)
        date = day if day != last_day else " " * len(day)
        last_day = day
        corrected = correction_note(reader, bank, "exchange", record.id)
        line = _index_line(record, date, corrected, ended)
        parts.append(Part((line,), (uri("exchange", record.id),)))
    return parts


def _is_worth_listing(reader: Reader, exchange: Exchange) -> bool:
    """Whether an exchange is a person's request that had a result."""
    session = reader.sessions.get(exchange.bank, exchange.session)
    if session is None or session.parent or not names_work(exchange.title):
        return False
    first = reader.turns.of_session(
        exchange.bank, exchange.session, exchange.first_seq, exchange.first_seq
    )
    by_agent = bool(first) and bool(first[0].speaker) and session.agent == AGENT
    return not by_agent and bool(exchange.summary or exchange.files_modified)


def _answer(x: Exchange) -> str:
    """The answer of a question, which says nothing itself about what was found or chosen; else
    ""."""
    return next(iter(sentences(x.summary)), "") if x.title.endswith("?") else ""


def _index_line(x: Exchange, date: str, corrected: str, ended: EndedWords) -> str:
    kind = x.type.value + (f" ({x.outcome.value})" if x.outcome in _UNFINISHED else "")
    cost = estimate_tokens(f"{x.title}{x.summary}{x.details}{''.join(x.facts)}")
    title = truncate(one_line(x.title), _LIMITS.title_characters)
    answer = _answer(x)
    endings = ended.find(f"{x.title}\n\n{answer}", x.started, x.session, x.first_seq)
    label = corrected_label(corrected) + ended_label(endings)
    title = f"{origin_label(x.trust, title, answer)}{label}{title}"
    title += f" → {truncate(one_line(answer), _LIMITS.answer_characters)}" if answer else ""
    return f"- {x.id[:SHORT_ID]} {date} {x.started[11:16]} {kind}: {title} ~{cost}"
