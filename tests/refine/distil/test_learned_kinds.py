"""The kinds that readers give to statements like these."""

from __future__ import annotations

import pytest

from holdfast.inference.encoder import packaged_encoder
from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core.written_messages import COMMITTED
from holdfast.refine.distil.features import Candidate, describe
from holdfast.refine.distil.learned_kinds import learned_kinds
from holdfast.refine.distil.selector import Scored
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import Place, Utterance

pytestmark = pytest.mark.model

REQUEST = "Make the nightly build of the desktop app work again."


def kind_of(
    text: str, kind: Kind = Kind.FACT, place: Place = Place.CLOSING, lead: str = ""
) -> Kind:
    """The kind of a statement whose words show `kind`; a person's in a prompt."""
    is_person = place is Place.PROMPT
    role, trust = (Role.USER, Trust.USER) if is_person else (Role.ASSISTANT, Trust.ASSISTANT)
    utterances = [
        Utterance(Turn("b", f"t{n}", "s", n, "", who, by, said), said, where, who is Role.USER)
        for n, (who, by, said, where) in enumerate(
            [(Role.USER, Trust.USER, REQUEST, Place.PROMPT), (role, trust, text, place)]
        )
    ]
    candidate = Candidate(1, Statement(text, lead, "", False, True, 0, 1, 1))
    numbers = (*describe(utterances, [candidate])[0].tolist(), 0.0)
    one = Scored(candidate, 0.0, kind, numbers)
    return learned_kinds([one], utterances, packaged_encoder().embed)[0].kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("`mise run build` now succeeds end to end and produces `App.dmg` bundles.", Kind.OUTCOME),
        (
            "Found the bug: the sync client strips the exec bit when `cp` stages the binary, so "
            "the bundled program fails with `permission denied`.",
            Kind.LESSON,
        ),
        ("The release channel is read from `channel.toml`, section `desktop`.", Kind.FACT),
    ],
)
def test_what_reads_like_a_fact_gets_the_kind_that_readers_give_it(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


@pytest.mark.parametrize(
    ("kind", "place", "lead"),
    [
        (Kind.RULE, Place.PROMPT, ""),
        (Kind.FACT, Place.PROMPT, ""),
        (Kind.TODO, Place.CLOSING, ""),
        (Kind.DECISION, Place.ANSWER, ""),
        (Kind.LESSON, Place.FIX, ""),
        (Kind.FACT, Place.COMMIT, COMMITTED),
    ],
)
def test_what_people_say_and_what_a_place_tells_keeps_its_kind(
    kind: Kind, place: Place, lead: str
) -> None:
    """The same words are an outcome elsewhere, by the first case above."""
    text = "`mise run build` now succeeds end to end and produces `App.dmg` bundles."
    assert kind_of(text, kind, place, lead) is kind
