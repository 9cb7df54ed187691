from __future__ import annotations

import pytest

from holdfast.refine.core.word_classes import WordClass, is_common, is_generic, word_class


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("gradient", WordClass.NOUN),
        ("file", WordClass.ACTION),
        ("report", WordClass.ACTION),
        ("reports", WordClass.ACTION),
        ("ensure", WordClass.VERB),
        ("ensures", WordClass.VERB),
        ("identifies", WordClass.VERB),
        ("wrote", WordClass.VERB),
        ("trusted", WordClass.PARTICIPLE),
        ("stamped", WordClass.PARTICIPLE),
        ("wiring", WordClass.GERUND),
        ("logging", WordClass.NOUN),
        ("nightly", WordClass.ADJECTIVE),
        ("reusable", WordClass.ADJECTIVE),
        ("table-driven", WordClass.ADJECTIVE),
        ("eventually", WordClass.OTHER),
        ("back", WordClass.OTHER),
        ("assembly", WordClass.NOUN),
        ("the", WordClass.DETERMINER),
        ("you", WordClass.SUBJECT),
        ("please", WordClass.VERB_CUE),
        ("actual", WordClass.VAGUE),
        ("fixed", WordClass.VAGUE),
        ("für", WordClass.OTHER),
        ("чтобы", WordClass.OTHER),
    ],
)
def test_a_word_has_the_class_that_says_whether_it_can_be_in_a_noun_phrase(
    word: str, expected: WordClass
) -> None:
    assert word_class(word) is expected


def test_nouns_of_every_project_are_known_from_those_of_one() -> None:
    assert is_generic("file") and is_generic("errors")
    assert is_common("config") and not is_generic("config")
    assert not is_common("gradient")
