from __future__ import annotations

from holdfast.model.knowledge import Kind, Memory, Network, Recap
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.refine.facts.changed_recaps import changed_recaps

DECEMBER = (
    "Then it is: charts and SOS never ask. For the rest, 6 wrong PINs mean 15 minutes of waiting, "
    "kept in the keystore, and after 3 rounds the PIN is void and a full login is needed. "
    "Fingerprint unlocks without resetting the count."
)
APRIL = (
    "6 wrong pins, 2 minutes of waiting kept in the keystore, void after 2 rounds and then a full "
    "login. The same wrong pin in a row is one. charts and SOS never ask, fingerprint still does "
    "not reset the count."
)
ANOTHER = (
    "Exports above 5,000 rows run as a background job and the mail carries a link that works for "
    "72 hours; after 3 failed rounds the job is void and support gets a full report."
)


def recap(text: str, day: str, session: str) -> Recap:
    id = f"{session}-{day}"
    evidence = (uri("exchange", f"x{id}"), uri("turn", f"t{id}"))
    when = f"{day}T09:00:00.000Z"
    memory = Memory(
        "bank", id, Network.WORLD, text, Trust.USER, when, evidence_for=evidence, kind=Kind.DECISION
    )
    return Recap(memory, session, 7)


def test_a_later_recap_of_the_same_matter_supersedes_the_earlier_one_and_its_turn() -> None:
    earlier, later = recap(DECEMBER, "2025-12-11", "one"), recap(APRIL, "2026-04-22", "two")
    other = recap(ANOTHER, "2026-01-05", "three")
    found = changed_recaps([later, other, earlier])
    assert {(one.kind, one.id) for one in found} == {
        ("memory", earlier.memory.id),
        ("turn", f"t{earlier.memory.id}"),
    }
    assert {one.because for one in found} == {uri("memory", later.memory.id)}
    assert {one.time for one in found} == {later.memory.when}
    assert {one.status for one in found} == {Status.SUPERSEDED}


def test_what_a_later_recap_says_again_in_part_is_amended() -> None:
    more = "The logbook syncs by server time, an edit beats a delete, remarks keep both texts. "
    earlier = recap(
        DECEMBER + " " + more + "Signed trips take addenda with the arrival time, engine hours "
        "keep the higher value and manual entries never count towards badges.",
        "2025-12-11",
        "one",
    )
    short = "Charts and SOS never ask, 6 wrong PINs now mean 2 minutes, kept in the keystore."
    found = changed_recaps([earlier, recap(short, "2026-04-22", "two")])
    assert {one.status for one in found} == {Status.AMENDED}


def test_recaps_of_one_session_and_of_other_matters_change_nothing() -> None:
    same = [recap(DECEMBER, "2025-12-11", "one"), recap(APRIL, "2025-12-12", "one")]
    assert changed_recaps(same) == []
    others = [recap(DECEMBER, "2025-12-11", "one"), recap(ANOTHER, "2026-01-05", "two")]
    assert changed_recaps(others) == []
