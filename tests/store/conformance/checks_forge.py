"""Pulls, issues, remarks, accounts, and how far each forge repository was read."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.curation import CurationState
from holdfast.model.forge import ForgeAccount, Issue, Pull, Remark, RemarkKind, ThreadState
from holdfast.model.query import RecordFilter
from holdfast.model.trust import Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.records.forge import ForgeRepository
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    MakeStore,
    a_commit,
    a_passage,
    expect,
    prepared,
)

_URL = "https://github.com/acme/shop/pull/12"
PULL = Pull(
    BANK, "12@acme.shop", 12, NOON, "ann", "Lift the crane", "With a rope.", ThreadState.MERGED,
    _URL, Trust.TEAM, "github.com/acme/shop", NOON, NOON, ("bug", "crane, big"),
    ("src/crane.py", "docs/a b.md"), ("c1", "c2"), "c3", "main", "lift", (7, 9), False,
)  # fmt: skip
ISSUE = Issue(
    BANK, "7@acme.shop", 7, NOON, "eve", "It does not lift", "At all.", ThreadState.DECLINED, "",
    Trust.EXTERNAL, "github.com/acme/shop", NOON, "", ("question",), True,
)  # fmt: skip
_THREAD = "holdfast://pull/12@acme.shop"
REMARK = Remark(
    BANK, "r1", _THREAD, RemarkKind.INLINE, NOON, "bob", "Tie a knot.", "", "src/crane.py", 7,
    f"{_URL}#r1", Trust.TEAM, NOON, False,
)  # fmt: skip
_REVIEW = replace(
    REMARK, id="r0", kind=RemarkKind.REVIEW, state="approved", path="", line=0, bot=True
)


def check_forge_records_are_returned_unchanged(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            for thread in (PULL, ISSUE):
                expect(store.forge.put_thread(thread, None), True, "a new thread")
                expect(store.forge.put_thread(thread, None), False, "the same again")
            for remark in (REMARK, _REVIEW):
                expect(store.forge.put_remark(remark, None), True, "a new remark")
            expect(store.forge.put_remark(REMARK, None), False, "the same again")
        expect(store.records.find(BANK, "pull", PULL.id), [PULL], "the pull by its id")
        expect(store.records.find(BANK, "pull", "12"), [PULL], "by its number")
        expect(store.records.find(BANK, "pull", "1"), [], "by the start of a number")
        expect(store.records.find(None, "issue", "7"), [ISSUE], "the issue")
        expect(store.records.find(OTHER, "issue", "7"), [], "that of another bank")
        expect(store.records.find(BANK, "", "r1"), [REMARK], "the remark")
        expect(store.forge.threads_by_number(BANK, 12), [PULL], "what has a number")
        expect(store.forge.remarks(BANK, _THREAD), [_REVIEW, REMARK], "what was said")
        expect(store.forge.remarks(OTHER, _THREAD), [], "what was said in another bank")
        expect(
            store.forge.known_threads(BANK, "pull", [PULL.id, "x"]),
            {PULL.id: NOON},
            "what is known",
        )
        counts = store.records.counts(BANK)
        expect((counts.pulls, counts.issues), (1, 1), "the counts")


def check_pull_requests_are_found_by_commits_issues_and_files(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.forge.put_thread(PULL, a_passage(PULL.id, "lift", kind="pull", session=""))
            for id, subject in (("c1", "Lift (#12)"), ("c9", "Sink (#121)"), ("c8", "see a/b#12")):
                store.git.put_commits([a_commit(id, subject)])
        for commit in ("c1", "c3"):
            expect(store.forge.pulls_with_commit(BANK, commit), [PULL], f"the pulls of {commit}")
        expect(store.forge.pulls_with_commit(OTHER, "c1"), [], "those of another bank")
        expect(store.forge.pulls_fixing(BANK, 9), [PULL], "the pulls that close an issue")
        expect(store.forge.pulls_fixing(BANK, 12), [], "those that do not")
        expect(store.forge.commits_mentioning(BANK, 12), ["c1"], "the commits that name a number")
        expect(store.forge.pulls_touching(BANK, RecordFilter(file="crane.py")), [PULL], "by file")
        expect(store.forge.pulls_touching(None, RecordFilter(file="src/")), [PULL], "by folder")
        expect(store.forge.pulls_touching(OTHER, RecordFilter(file="src/")), [], "in another bank")
        expect(store.records.filter(BANK, RecordFilter(file="crane.py")), [], "work of one's own")
        moved = replace(PULL, commits=("c5",), files=("b.py",))
        with store.transaction():
            store.forge.put_thread(moved, a_passage(PULL.id, "lift", kind="pull", session=""))
        expect(store.forge.pulls_with_commit(BANK, "c1"), [], "a commit that left it")
        expect(
            store.forge.pulls_touching(BANK, RecordFilter(file="crane.py")),
            [],
            "a file that left it",
        )


def check_hiding_a_thread_hides_its_remarks(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.forge.put_thread(PULL, a_passage(PULL.id, "lift", kind="pull", session=""))
            store.forge.put_remark(REMARK, a_passage("r1", "knot", kind="remark", session=""))
            store.curation.put_state(CurationState(BANK, "remark", "r1", text="Tie two knots."))
        said = replace(REMARK, text="Tie two knots.", trust=Trust.USER)
        found = [(p.kind, p.body) for p in store.forge.thread_passages(BANK, _THREAD)]
        expect(found, [("pull", "lift"), ("remark", "knot")], "the discussion")
        expect(store.forge.thread_passages(OTHER, _THREAD), [], "that of another bank")
        expect(store.forge.remarks(BANK, _THREAD), [said], "a corrected remark")
        with store.transaction():
            store.curation.put_state(CurationState(BANK, "pull", PULL.id, forgotten=True))
        expect(store.records.find(BANK, "pull", "12"), [], "a forgotten pull")
        expect(store.forge.remarks(BANK, _THREAD), [], "its remarks")
        expect(store.forge.thread_passages(BANK, _THREAD), [], "what was discussed")
        expect(store.forge.pulls_with_commit(BANK, "c1"), [], "by its commit")
        expect(store.forge.thread_uncurated(BANK, "pull", PULL.id), PULL, "as it was read")
        expect(
            store.forge.remarks_uncurated(BANK, _THREAD), [REMARK], "its remarks as they were read"
        )


def check_forge_records_can_be_erased_and_scrubbed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.forge.put_thread(PULL, a_passage(PULL.id, "lift", kind="pull", session=""))
            store.forge.put_remark(REMARK, a_passage("r1", "knot", kind="remark", session=""))
            store.forge.put_logins(BANK, [ForgeAccount("ann", "Ann Rope", "ann@x.org")])

        def clean(text: str) -> str:
            return text.replace("rope", "[]").replace("Rope", "[]")

        held = [(t.table, t.id) for t in store.erasure.rows_to_scrub(clean)]
        expect(held, [("pull", PULL.id), ("forge_login", "ann")], "what holds a word")
        with store.transaction():
            store.erasure.scrub(clean)
        expect(
            store.records.find(BANK, "pull", "12"), [replace(PULL, body="With a [].")], "the rest"
        )
        expect(store.forge.logins(BANK), [], "who is who")
        with store.transaction():
            store.erasure.erase(Erasure(BANK, forged=(("pull", PULL.id), ("remark", "r1"))))
        expect(store.records.find(BANK, "", "12@"), [], "an erased pull")
        expect(store.forge.remarks_uncurated(BANK, _THREAD), [], "its remarks")
        expect(store.passages.search(BANK, ["lift", "knot"]), [], "their words")
        expect(store.forge.pulls_with_commit(BANK, "c1"), [], "by its commit")


def check_the_progress_of_reading_a_forge_is_stored(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        first = ForgeRepository(
            BANK, "github.com/acme/shop", {"threads": NOON}, {"/a?b": 'W/"x"'}, NOON
        )
        with store.transaction():
            store.forge.put_repository(first._replace(cursors={}))
            store.forge.put_repository(first)
            store.forge.put_repository(first._replace(bank=OTHER))
            store.forge.put_logins(
                BANK, [ForgeAccount("ann", "Ann", "ann@x.org"), ForgeAccount("bob", "Bob", "")]
            )
            store.forge.put_logins(BANK, [ForgeAccount("ann", "Another", "")])
        expect(store.forge.repositories(BANK), [first], "how far")
        expect(len(store.forge.repositories()), 2, "in all banks")
        wanted = [ForgeAccount("ann", "Ann", "ann@x.org"), ForgeAccount("bob", "Bob", "")]
        expect(store.forge.logins(BANK), wanted, "who is who")
