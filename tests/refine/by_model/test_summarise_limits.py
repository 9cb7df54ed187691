"""Summaries with a small model context and with spending caps."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ModelTooLongError
from holdfast.inference.chat import Question, Usage
from holdfast.refine.by_model.summarise import SummaryReport
from holdfast.settings import SpendCaps
from tests.refine.by_model.test_summarise import Home, good, long_session
from tests.support.chats import ScriptedChat
from tests.support.transcripts import bug_hunt


@pytest.mark.slow
def test_a_model_with_a_small_context_gets_smaller_prompts(tmp_path: Path) -> None:
    script = bug_hunt()
    for number in range(40):
        script.assistant(f"Step {number}: " + "the retry wrapper and the importer again. " * 20)
    home = Home(tmp_path, script)

    def small(question: Question) -> str:
        if len(question.system + question.text) // 3 + question.tokens > 4096:
            raise ModelTooLongError("It said 400: maximum context length.")
        return good(question)

    chat = ScriptedChat(small)
    assert home.summarise(chat) == SummaryReport(1, 1)
    assert home.memory.store.model_calls.paused_services() == [] and len(chat.asked) > 3
    home.memory.close()


def test_a_model_with_no_usable_context_is_reported(tmp_path: Path) -> None:
    home = Home(tmp_path, bug_hunt())
    before = home.exchanges()
    done = home.summarise(ScriptedChat(ModelTooLongError("It said 400: context window of 64.")))
    assert done == SummaryReport(stopped="It said 400: context window of 64.")
    assert home.exchanges() == before
    home.memory.close()


@pytest.mark.slow
def test_the_cap_of_one_session_does_not_stop_the_others(tmp_path: Path) -> None:
    home = Home(tmp_path, long_session(8))
    chat = ScriptedChat(good, usage=Usage(2500, 100))
    caps = SpendCaps(10**9, 10, 6300, 10)
    done = home.summarise(chat, caps)
    assert done.exchanges == 6 and "of 6,300 are spent for this session" in done.stopped
    home.read(bug_hunt())
    done = home.summarise(chat, caps)
    assert done.exchanges == 1 and "for this session" in done.stopped
    home.memory.close()
