from __future__ import annotations

import pytest

from holdfast.model.knowledge import EndedStatement, EndReason
from holdfast.recall.core.ended_words import WHOLE_SESSION, EndedWords, has_ended

SAID, ENDED, LATER = "2026-05-03T09:00:00Z", "2026-05-05T09:00:00Z", "2026-05-07T09:00:00Z"
FLUX = EndedStatement(
    "s1", 1, 4, "From now on we always deploy with flux from the release branch, never by hand.",
    SAID, ENDED, EndReason.CORRECTED, "ada", "holdfast://fact/f1", "holdfast://fact/f1",
    "We always deploy with argocd from the release branch, never by hand.",
)  # fmt: skip
FRIDAYS = EndedStatement(
    "s1", 1, 4, "Never deploy the storefront on Fridays.", SAID, ENDED, EndReason.FORGOTTEN, "ada",
    "holdfast://fact/f2",
)  # fmt: skip
LIMIT = EndedStatement(
    "s1", 1, 4, "Uploads are limited to 10 MB.", SAID, ENDED, EndReason.SUPERSEDED, "",
    "holdfast://fact/f3", "holdfast://fact/f4", "Uploads are limited to 20 MB.",
)  # fmt: skip
GUESS = EndedStatement(
    "s1",
    1,
    4,
    "The cause is the stale cache entry.",
    SAID,
    ENDED,
    EndReason.RETRACTED,
    everywhere=False,
)


CACHE = EndedStatement(
    "s1", 1, 4, "We cache API responses in Redis for six minutes, because that is how often the "
    "gauge publishes.", SAID, ENDED, EndReason.SUPERSEDED, "", "holdfast://fact/f5",
    "holdfast://fact/f6", "We no longer cache API responses in Redis: they are a table in SQLite "
    "now, because after a reboot the missing Redis kept the whole service down.",
)  # fmt: skip


def says(
    ended: EndedStatement, text: str, session: str = "s2", time: str = SAID, seq: int = 1
) -> bool:
    return bool(EndedWords([ended]).find(text, time, session, seq))


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (FLUX, "We deploy with flux from the release branch and never by hand."),
        (FLUX, "Worked on “From now on we always deploy with flux from the release branch, never "
               "by hand” in src/deploy.py; the tests pass"),
        (FLUX, "Request: From now on we always deploy with flux from the release branch, never by "
               "hand (and 1 more request)"),
        (FLUX, "2 exchanges about deploy.py. Latest: From now on we always deploy with flux…"),
        (FRIDAYS, "Remember: we never deploy the storefront on Fridays."),
        (LIMIT, "The upload limit is 10 MB."),
    ],
)  # fmt: skip
def test_what_says_the_same_anywhere_has_ended(ended: EndedStatement, text: str) -> None:
    (found,) = EndedWords([ended]).find(text, SAID, "s2")
    assert (found.ended, found.reason, found.now) == (ENDED, ended.reason, ended.now)
    assert has_ended(text, [found])


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (FLUX, "We always deploy with argocd from the release branch, never by hand."),
        (FLUX, "We moved deployments from flux to argocd on the release branch, never by hand."),
        (FLUX, "The release branch is protected."),
        (FLUX, "Do we still deploy with flux from the release branch, never by hand?"),
        (FRIDAYS, "We deploy the storefront on Fridays."),
        (FRIDAYS, "Never restart the database on Fridays."),
        (LIMIT, "Uploads are limited to 20 MB."),
        (LIMIT, "The export is limited to 10 MB."),
    ],
)
def test_what_says_something_else_has_not_ended(ended: EndedStatement, text: str) -> None:
    assert not says(ended, text)


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (CACHE, "Committed “Cache API responses in Redis” in src/cache.py; the tests pass"),
        (CACHE, "Cache API responses in Redis"),
        (CACHE, "Completed: the API responses are cached in Redis."),
        (CACHE, "Next: move the cache of API responses to Redis."),
        (FLUX, "Committed “Deploy with flux” in deploy/flux.yaml; the tests pass"),
        (FLUX, "Switched the release branch to flux"),
        (FLUX, "Committed: Deploy with flux"),
        (LIMIT._replace(text="Uploads go through S3.", now="Uploads go through the disk."),
         "Committed “Put uploads through S3” in src/upload.py"),
    ],
)  # fmt: skip
def test_what_carried_an_ended_decision_out_has_ended(ended: EndedStatement, text: str) -> None:
    assert says(ended, text)
    assert not says(ended, text, time=LATER)


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (CACHE, "Committed “Cache API responses in SQLite” in src/cache.py"),
        (CACHE, "We decided against a cache of API responses in Redis."),
        (CACHE, "Sessions are kept in Redis."),
        (CACHE, "API responses are gzipped."),
        (FLUX, "The flux capacitor of the demo is painted red."),
        (FLUX, "Committed “Protect the release branch”"),
        (FLUX, "Deploy the documentation with flux too, and link it from the start page."),
        (LIMIT, "Committed “Show uploads in a table”"),
        (LIMIT, "Exports are limited to 10 rows."),
    ],
)
def test_what_has_only_words_of_an_ended_decision_has_not_ended(
    ended: EndedStatement, text: str
) -> None:
    assert not says(ended, text)


@pytest.mark.parametrize("ended", [FLUX, FLUX._replace(now="", instead="")])
def test_in_its_own_exchange_fewer_words_refer_to_it(ended: EndedStatement) -> None:
    text = "Changing src/deploy.py so that it deploys with flux."
    assert says(ended, text, "s1", seq=4)
    assert not says(ended, text, "s1", seq=5)
    assert not says(ended, text, "s2", seq=4)
    assert not says(LIMIT, "The test passes 10 times in a row.", "s1")


UPLOADS = LIMIT._replace(
    text="Uploads always go through S3 in the media service.", now="", instead=""
)


@pytest.mark.parametrize("seq", [3, WHOLE_SESSION])
@pytest.mark.parametrize(
    ("ended", "title"),
    [
        (UPLOADS, "Put uploads through S3"),
        (UPLOADS, "Committed: Put uploads through S3"),
        (UPLOADS._replace(now="Uploads go through the disk in the media service."),
         "Put uploads through S3"),
        (FLUX._replace(now="", instead=""), "Deploy with flux"),
    ],
)  # fmt: skip
def test_the_title_of_the_session_of_what_ended_has_ended(
    ended: EndedStatement, title: str, seq: int
) -> None:
    assert says(ended, title, "s1", seq=seq)
    assert not says(ended, title, "s2", seq=seq)
    assert not says(ended, "Show the uploads in a table", "s1", seq=WHOLE_SESSION)
    assert not says(ended, "Decide against uploads through S3", "s1", seq=WHOLE_SESSION)


def test_a_wrong_guess_ends_within_its_session_only() -> None:
    assert says(GUESS, "I think the cause is the stale cache entry.", "s1")
    assert not says(GUESS, "The cause is the stale cache entry.", "s2")


def test_what_is_said_again_after_its_end_holds() -> None:
    text = "From now on we deploy with flux from the release branch, never by hand."
    assert says(FLUX, text, time=SAID)
    assert not says(FLUX, text, time=LATER)


def test_looking_back_to_a_time_nothing_has_ended_that_ended_later() -> None:
    assert not EndedWords([LIMIT], as_of=SAID).find(LIMIT.text, SAID)
    assert EndedWords([LIMIT], as_of=LATER).find(LIMIT.text, SAID)


def test_one_ended_sentence_of_a_long_text_does_not_end_the_text() -> None:
    text = "The importer was rewritten to stream rows. Uploads are limited to 10 MB. " * 1 + (
        "Its tests moved to the new folder, and the nightly job runs them against three databases."
    )
    (found,) = EndedWords([LIMIT]).find(text, SAID, "s2")
    assert found.sentence == "Uploads are limited to 10 MB."
    assert not has_ended(text, [found])
