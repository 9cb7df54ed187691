"""A request in the words with which the agent says it back."""

import pytest

from holdfast.model.knowledge import ClaimKind
from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.facts.claims import make_claims
from holdfast.refine.requests.headlines import headline
from holdfast.refine.requests.restated_requests import restated_request
from holdfast.refine.sessions.exchanges import build_exchange

RAMBLING = (
    "so there is a thing, some videos are bigger than the modal, the player just runs off the "
    "screen, think about how we could size it"
)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            "I'll help you fix the size of your modal video player. Let me look at the code.",
            "Fix the size of the modal video player",
        ),
        (
            "Great! I'd be happy to help fix the size of the modal video player, but first I need "
            "the screen width.",
            "Fix the size of the modal video player",
        ),
        (
            "I understand you want to size the modal player for big videos: let me search.",
            "Size the modal player for big videos",
        ),
        (
            "Sure. Let me help you with sizing the modal video player!",
            "Sizing the modal video player",
        ),
        (
            "I see. You're asking about the size of the modal video player.",
            "The size of the modal video player",
        ),
        (
            'I\'ll help you sort the "Your videos" modal by player size, first by width.',
            'Sort the "Your videos" modal by player size, first by width',
        ),
        (
            "I can help with that. I understand you want to size the modal player for big videos.",
            "Size the modal player for big videos",
        ),
    ],
)
def test_the_agent_says_back_what_it_was_asked(reply: str, expected: str) -> None:
    assert restated_request(RAMBLING, headline(RAMBLING), reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "I'll start by reading the modal video player's code.",
        "You need to restart the modal video player after a new size is set.",
        "You want to avoid a fixed size of the modal video player here.",
        "I can help you with that, but I can't see the modal video player.",
        "I'll help you fix this issue.",
        "I'll help you improve the layout of the settings page and its columns.",
        "The player has a fixed width. I removed it. I'll help you test the modal video player.",
        "",
    ],
)
def test_a_reply_that_says_little_or_something_else_is_not_what_was_asked(reply: str) -> None:
    assert restated_request(RAMBLING, headline(RAMBLING), reply) == ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "Add a retry with exponential backoff and jitter to the uploader in src/upload.py",
            "add retry logic to the uploader",
        ),
        (
            "Don't delete the old gauge scripts, only rename them",
            "delete the old gauge scripts and rename all of the harbour's",
        ),
        (
            "Add a retry to the upload queue, but keep the old API",
            "add a retry to the upload queue with exponential backoff and jitter",
        ),
    ],
)
def test_a_headline_that_tells_more_stays(asked: str, said: str) -> None:
    assert restated_request(asked, headline(asked), f"I'll help you {said}.") == ""


def test_a_name_that_reads_like_a_first_step_stays() -> None:
    asked = "how do we set up the nginx reverse proxy with let's encrypt certificates?"
    reply = "I'll help you set up the nginx reverse proxy with Let's Encrypt certificates."
    said = "Set up the nginx reverse proxy with Let's Encrypt certificates"
    assert restated_request(asked, headline(asked), reply) == said


def test_what_stands_before_a_request_does_not_hide_it() -> None:
    for before in ("ok so ", "[plugin:css] no modal.css\n"):
        reply = "I'll help you fix the size of the modal video player."
        said = restated_request(before + RAMBLING, headline(before + RAMBLING), reply)
        assert said == "Fix the size of the modal video player"


def test_a_claim_quotes_what_the_person_said() -> None:
    asked = f"{RAMBLING}, that is a bug"
    opening = "I'll help you fix the overflow bug of the modal video player."
    ran = ToolCall("Bash", "npm test", "npm test", "1 failed", "1 failed", False)
    turns = [
        Turn("bank", "a", "s", 0, "", Role.USER, Trust.USER, asked),
        Turn("bank", "b", "s", 1, "", Role.ASSISTANT, Trust.ASSISTANT, opening),
        Turn("bank", "c", "s", 2, "", Role.TOOL, Trust.TOOL, "", tool=ran),
    ]
    made = build_exchange(turns)
    assert made.title == "Fix the overflow bug of the modal video player"
    attempts = [one for one in make_claims(made, turns) if one.kind is ClaimKind.ATTEMPT]
    assert [one.text for one in attempts if one.turn == "a"] != [made.title]
    assert all("overflow bug of the modal" not in one.text for one in attempts)


def test_words_that_point_at_something_give_way_to_those_that_name_it() -> None:
    reply = "I'll help you add those scripts to your package.json file."
    asked = "add a clean:build script to package.json that deletes dist, and a clean:pkgs script"
    assert restated_request(asked, headline(asked), reply) == ""
    asked = "those two scripts in package.json, can you?"
    said = "Add those scripts to the package.json file"
    assert restated_request(asked, headline(asked), reply) == said


@pytest.mark.parametrize(
    ("request_text", "reply", "expected"),
    [
        (
            "los pedidos agrupados en la caja se ven mal, ¿puedes?",
            "Te ayudo a mostrar los pedidos agrupados en la caja.",
            "Mostrar los pedidos agrupados en la caja",
        ),
        (
            "les commandes groupées de la caisse, tu peux ?",
            "Je vais vous aider à afficher les commandes groupées de la caisse.",
            "Afficher les commandes groupées de la caisse",
        ),
    ],
)
def test_other_languages_say_requests_back(request_text: str, reply: str, expected: str) -> None:
    assert restated_request(request_text, headline(request_text), reply) == expected


def test_an_exchange_is_called_what_the_agent_said_it_was_asked() -> None:
    asked = Turn("bank", "a", "s", 0, "", Role.USER, Trust.USER, RAMBLING)
    opening = "I'll help you fix the size of the modal video player. Let me look."
    closing = "The player now scales with the window, and tall videos get bars at their sides."
    turns = [asked]
    for seq, text in enumerate((opening, closing), start=1):
        turns.append(Turn("bank", f"t{seq}", "s", seq, "", Role.ASSISTANT, Trust.ASSISTANT, text))
    made = build_exchange(turns)
    assert made.title == "Fix the size of the modal video player"
    assert "runs off the screen" in made.details
    assert made.summary.startswith("The player now scales")
