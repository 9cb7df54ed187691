from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.sources.share_format import (
    decode,
    encode,
    line_hash,
    merge,
    person_path,
    read_shares,
    share_key,
)

ANN = "ann@x.org"
PATH = person_path(ANN)
T = "2026-11-0{}T00:00:00.000Z"


def shared(
    number: int = 1, text: str = "Use tabs.", day: int = 1, gone: bool = False
) -> SharedRecord:
    origin = f"holdfast://fact/{number:016x}"
    return SharedRecord(
        "", share_key(ANN, origin), "", "fact", text, "Ann", ANN, T.format(day), origin,
        T.format(1), Trust.TEAM, Trust.USER, ("src/a.py",), "mind this", gone,
        Scope.PROJECT,
    )  # fmt: skip


def line(**changes: Any) -> bytes:
    result = {**json.loads(encode(shared())), **changes}
    result = {name: value for name, value in result.items() if value is not None}
    return json.dumps({**result, "id": line_hash(result)}).encode()


def store(*records: SharedRecord) -> dict[str, bytes]:
    return {PATH: b"".join(encode(record) + b"\n" for record in records)}


def test_a_record_survives_a_round_trip() -> None:
    back = decode(encode(shared()), PATH)
    assert isinstance(back, SharedRecord) and len(back.version) == 32
    assert replace(back, version="") == shared()
    gone = decode(encode(shared(gone=True)), PATH)
    assert isinstance(gone, SharedRecord) and gone.gone and not gone.text and gone.id == shared().id
    assert encode(shared()).count(b"\n") == 0


def test_external_text_stays_external_and_unknown_origins_count_as_external() -> None:
    for message, trust in (
        ("external", Trust.EXTERNAL),
        ("king", Trust.EXTERNAL),
        ("tool", "team"),
    ):
        back = decode(line(trust=message), PATH)
        assert isinstance(back, SharedRecord) and back.trust == trust


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b'{"v": NaN}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"9" * 5000, "not JSON"),
        (b"[1]", "not a record"),
        (line(text="x" * 70_000), "the line is too long"),
        (line(v=2), "of another version of the format"),
        (line(v=True), "of another version of the format"),
        (line(v="1"), "of another version of the format"),
        (encode(shared()).replace(b"tabs", b"nots"), "its id is not the hash of its content"),
        (line(email="bob@x.org"), "in the file of somebody else"),
        (line(origin="../../etc/passwd"), "not a record"),
        (line(origin="holdfast://fact/a\nb"), "not a record"),
        (line(shared="2026-99-99T00:00:00Z"), "not a record"),
        (line(time="yesterday"), "not a record"),
        (line(kind="turn"), "not a record"),
        (line(text="  "), "not a record"),
        (line(text=None), "not a record"),
        (line(text=["a"]), "not a record"),
        (line(files="a.py"), "not a record"),
        (line(gone=1), "not a record"),
    ],
)
def test_an_invalid_record_is_refused_with_a_reason(bad: bytes, why: str) -> None:
    assert decode(bad, PATH) == why
    good = encode(shared())
    held, refused = read_shares({PATH: bad + b"\n" + good + b"\n"})
    assert list(held) == [shared().id], "one bad line takes no other with it"
    assert [(r.line, r.why) for r in refused] == [(1, why)]
    assert bad in merge([{PATH: bad + b"\n"}, store(shared(2))])[PATH], "a merge loses nothing"


def test_control_and_invisible_characters_are_removed() -> None:
    back = decode(line(text="a\x1b[2Jb\u202ec\n\td", by="A\x07nn"), PATH)
    assert isinstance(back, SharedRecord)
    assert (back.text, back.author) == ("a[2Jbc\n\td", "Ann")


def test_the_file_name_of_a_person_is_valid_whatever_the_address() -> None:
    paths = {person_path(x) for x in ("../../x@y", "A B@c", "ann@x.org", "ann@y.org", "@", "ä@ö")}
    assert len(paths) == 6
    assert all(path.count("/") == 1 and ".." not in path for path in paths)


RECORDS = st.builds(
    shared, st.integers(1, 3), st.sampled_from("abc"), st.integers(1, 4), st.booleans()
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.lists(RECORDS, max_size=5), min_size=1, max_size=3))
def test_share_stores_merge_to_the_same_in_any_order(parts: list[list[SharedRecord]]) -> None:
    stores = [store(*records) for records in parts]
    ways = {merge(order)[PATH] for order in permutations(stores)}
    assert len(ways) == 1
    (way,) = ways
    assert merge([{PATH: way}, {PATH: way}])[PATH] == way
    left: dict[str, bytes] = {}
    for one in stores:  # pairwise, as pushes do
        left = merge([left, one])
    assert left[PATH] == way
    lines = way.splitlines()
    held, refused = read_shares({PATH: way})
    assert len(lines) == len(held) and not refused, "one line for each matter"


def test_the_latest_version_wins_and_a_withdrawal_wins_a_tie() -> None:
    old, new = shared(text="old"), shared(text="new", day=2)
    held, _ = read_shares(merge([store(new), store(old)]))
    assert held[old.id].text == "new"
    assert b'"old"' not in merge([store(new), store(old)])[PATH]
    held, _ = read_shares(merge([store(shared(day=2, gone=True)), store(new)]))
    assert held[old.id].gone
    held, _ = read_shares(
        merge([store(shared(day=2, gone=True)), store(shared(day=3, text="again"))])
    )
    assert held[old.id].text == "again"


def test_a_line_has_a_scope_and_an_unknown_scope_is_refused() -> None:
    wider = decode(encode(replace(shared(), scope=Scope.ORGANISATION)), PATH)
    assert isinstance(wider, SharedRecord) and wider.scope is Scope.ORGANISATION
    assert b"scope" not in encode(shared())
    for scope in ("personal", "galaxy", "", 7, ["team"]):
        assert decode(line(scope=scope), PATH) == "of a scope that is not known"
