"""Nothing but blanks is no question, whoever asks in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory

ASKED: dict[str, Callable[[Holdfast, str], object]] = {
    "recall": lambda memory, words: memory.recall(words, "shop"),
    "ask": lambda memory, words: memory.ask(words, "shop"),
    "reflect": lambda memory, words: memory.opinions.reflect(words, "shop"),
    "who knows": lambda memory, words: memory.browse.who_knows(words, "shop"),
    "team": lambda memory, words: memory.answers.team_query(words, "shop"),
}


@pytest.mark.parametrize("way", ASKED)
@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_question_is_refused(tmp_path: Path, way: str, blank: str) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(with_empty_memory(settings)) as memory:
        memory.remember("Packages are installed with yarn.", "shop")
        with pytest.raises(InputError, match="is empty"):
            ASKED[way](memory, blank)
        ASKED[way](memory, "yarn")
        assert not any(one.strip() == "" for one in _logged_questions(memory))


def _logged_questions(memory: Holdfast) -> list[str]:
    sessions = sessions_of(memory.settings)
    return [question for id in sessions.ids() for question in sessions.summary(id).questions]
