from __future__ import annotations

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.selector import Scored
from holdfast.refine.distil.statements import find_statements
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.distil.wording import Context, Distilled, word_statements

SUBJECT, REQUEST = "Speed up the invoice export", "Repair the build on Windows"
NO_CONTEXT = Context()


def worded(text: str, chosen: list[str], context: Context = NO_CONTEXT) -> list[Distilled]:
    """Statements of a reply, as they are remembered."""
    turn = Turn("bank", "t1", "s", 1, "2026-05-01T10:00:00Z", Role.ASSISTANT, Trust.ASSISTANT, text)
    own = [one for one in find_statements(text) if one.text in chosen]
    scored = [Scored(Candidate(0, one), 1.0, Kind.FACT) for one in own]
    return word_statements(scored, [Utterance(turn, text, Place.CLOSING, False)], context)


def test_a_statement_names_the_request_that_it_answers_or_else_the_session() -> None:
    own = "Every path of an artefact had a backslash in its name."
    reply = f"The build works again. {own} The invoice job is unchanged."
    (told,) = worded(reply, [own], Context(SUBJECT, {"t1": REQUEST}))
    assert told.text == f"{own} ({REQUEST})" and told.said == own
    (told,) = worded(reply, [own], Context(SUBJECT))
    assert told.text == f"{own} ({SUBJECT})"


def test_a_request_about_something_else_is_not_named() -> None:
    own = "Every path of an artefact had a backslash in its name."
    (told,) = worded(own, [own], Context("", {"t1": SUBJECT}))
    assert told.text == own


def test_the_only_changed_file_is_named_where_nothing_else_tells_the_subject() -> None:
    own = "Every path of an artefact had a backslash in its name."
    context = Context("", {"t1": SUBJECT}, {"t1": "src/paths.py"})
    (told,) = worded(own, [own], context)
    assert told.text == f"{own} (src/paths.py)"
    (told,) = worded(f"The build works again. {own}", [own], Context(REQUEST, {}, context.files))
    assert told.text == f"{own} ({REQUEST})"


def test_what_points_at_a_sentence_that_is_not_there_is_left_out() -> None:
    own = "That removes the lock file at the next start."
    text = f"For example:\n\n```\nrm lock\n```\n\n{own}"
    assert worded(text, [own]) == []
    (told,) = worded(text, [own], Context("Clean up after a lock crash"))
    assert told.text == f"{own} (Clean up after a lock crash)"


def test_the_files_that_a_person_names_before_are_what_they_call_it() -> None:
    own = "I'd like to keep it the same two simple files."

    def said(text: str) -> str:
        turn = Turn("bank", "t1", "s", 1, "", Role.USER, Trust.USER, text)
        (chosen,) = [one for one in find_statements(text) if one.text == own]
        scored = [Scored(Candidate(0, chosen), 1.0, Kind.RULE)]
        utterances = [Utterance(turn, text, Place.PROMPT, True)]
        return word_statements(scored, utterances, NO_CONTEXT)[0].text

    assert said(f"Can you review @page/view.css and @page/view.js? {own}") == (
        f"{own} (page/view.css, page/view.js)"
    )
    assert said(f"Can you review the page that runs on Node.js? {own}") == own
