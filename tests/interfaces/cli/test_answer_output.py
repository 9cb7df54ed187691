"""How an answer is printed."""

from __future__ import annotations

import io

import pytest

from holdfast.model.query import Answer, Citation, Confidence, Layer
from holdfast.model.trust import Trust
from holdfast.operations.output.answer import print_answer
from holdfast.operations.screen import Screen

SAID = "We deploy on Tuesdays, because the harbour office is closed then and nobody waits."


def printed(*citations: Citation) -> str:
    stream = io.StringIO()
    answer = Answer("q", f"2 Sep 2026: {SAID} [1]", Confidence.MEDIUM, False, "rules", citations)
    print_answer(Screen(stream), answer)
    return " ".join(stream.getvalue().split())


def cite(excerpt: str, trust: Trust = Trust.USER) -> Citation:
    return Citation(1, "holdfast://turn/1", Layer.TRANSCRIPTS, excerpt, "", "2026-09-02", trust)


def test_text_from_outside_stands_in_its_frame_even_if_it_is_quoted() -> None:
    assert printed(cite(SAID, Trust.EXTERNAL)).count("We deploy") == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_a_uri_that_does_not_fit_has_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    long = cite(SAID)._replace(
        session="Add the remediation engine in batches", bank="evaluator" * 4
    )
    for citation, stream, is_alone in (
        (long, Terminal(), True),
        (cite(SAID), Terminal(), False),
        (long, io.StringIO(), False),
    ):
        answer = Answer("q", SAID, Confidence.MEDIUM, False, "rules", (citation,))
        print_answer(Screen(stream), answer)
        lines = stream.getvalue().splitlines()
        assert (f"      {citation.uri}" in lines) is is_alone
        assert stream.getvalue().count(citation.uri) == 1
