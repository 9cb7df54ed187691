import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.sources.fingerprint import FINGERPRINT_BYTES, fingerprint
from holdfast.sources.lines import (
    CLIPPED,
    LINE_LIMIT,
    SEGMENT_BYTES,
    STRING_LIMIT,
    Clipper,
    Line,
    Segment,
    count_lines,
    read_lines,
    segments,
)

LINE_BYTES = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b" "))


def clip(data: bytes, chunks: list[int]) -> bytes:
    """Feed a text in pieces of the given sizes, the rest in one."""
    clipper = Clipper()
    position = 0
    for size in chunks:
        clipper.feed(data[position : position + size])
        position += size
    clipper.feed(data[position:])
    assert not clipper.overflowed
    return clipper.finish()


def one_line(path: Path) -> Line:
    size = path.stat().st_size
    found = [line for run in segments(path, 0, size) for line in read_lines(path, run)]
    assert len(found) == 1
    return found[0]


def bare(line: Line) -> bytes:
    return line.data.removesuffix(b"\n")


@pytest.mark.slow
@settings(max_examples=100)
@given(lines=st.lists(LINE_BYTES, max_size=20), last=LINE_BYTES)
def test_the_lines_of_a_file_are_what_splitting_it_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], last: bytes
) -> None:
    data = b"".join(line + b"\n" for line in lines) + last
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(data)

    found = [x for run in segments(path, 0, len(data)) for x in read_lines(path, run)]

    assert [line.data for line in found] == [x + b"\n" for x in lines] + ([last] if last else [])
    assert [line.ended for line in found] == [True] * len(lines) + ([False] if last else [])
    assert [data[x.offset : x.offset + x.length].rstrip(b"\n") for x in found] == [
        x.data.rstrip(b"\n") for x in found
    ]
    assert sum(line.length for line in found) == len(data)
    assert count_lines(path, 0, len(data)) == len(found)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    lengths=st.lists(st.integers(0, SEGMENT_BYTES + 1000), min_size=1, max_size=6),
    ended=st.booleans(),
)
def test_segments_cover_a_large_file_exactly_and_end_between_lines(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], ended: bool
) -> None:
    data = b"\n".join(b"%d" % n + b"x" * n for n in lengths) + (b"\n" if ended else b"")
    path = tmp_path_factory.mktemp("large") / "a.jsonl"
    path.write_bytes(data)

    runs = list(segments(path, 0, len(data)))

    assert [run.start for run in runs] == [0, *(run.stop for run in runs[:-1])]
    assert runs[-1].stop == len(data)
    assert all(data[run.stop - 1] == ord("\n") for run in runs[:-1])
    assert len(runs) <= 1 + len(data) // SEGMENT_BYTES
    found = [bare(line) for run in runs for line in read_lines(path, run)]
    assert found == data.split(b"\n")[: len(lengths)]


def test_no_line_is_lost_at_a_segment_boundary(
    tmp_path: Path,
) -> None:
    lines = [b"a" * (SEGMENT_BYTES - 1), b"b", b"c" * (SEGMENT_BYTES - 3), b"d"]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))

    size = path.stat().st_size
    found = [bare(x) for run in segments(path, 0, size) for x in read_lines(path, run)]

    assert found == lines


def test_reading_starts_at_the_given_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")

    (run,) = segments(path, 4, 14)

    assert [(line.offset, bare(line)) for line in read_lines(path, run)] == [
        (4, b"two"),
        (8, b"three"),
    ]


def test_an_incomplete_last_line_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')

    whole, torn = read_lines(path, Segment(0, 13))

    assert (whole.data, whole.ended) == (b'{"a":1}\n', True)
    assert (torn.offset, torn.length, torn.data, torn.ended) == (8, 5, b'{"b":', False)


def test_bytes_past_the_end_of_a_segment_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\nappended meanwhile\n")

    assert [bare(line) for line in read_lines(path, Segment(0, 8))] == [b"one", b"two"]


def test_a_file_that_shrank_ends_its_lines_early(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")

    assert [bare(x) for x in read_lines(path, Segment(0, LINE_LIMIT * 2))] == [b"one"]
    assert [bare(x) for x in read_lines(path, Segment(0, 100))] == [b"one"]


@pytest.mark.slow
@pytest.mark.parametrize("newline", [b"\n", b""])
def test_a_giant_line_is_clipped_to_valid_json_with_its_short_fields_intact(
    tmp_path: Path, newline: bytes
) -> None:
    record: dict[str, Any] = {
        "uuid": "u-1",
        "text": 'say "hi"\\ \n é 😀',
        "content": "x" * (LINE_LIMIT + 5000),
        "list": [1, 2.5, None, True, {"deep": "é" * LINE_LIMIT}],
        "after": "kept",
    }
    path = tmp_path / "giant.jsonl"
    path.write_bytes(json.dumps(record, ensure_ascii=False).encode() + newline)

    line = one_line(path)

    read = orjson.loads(line.data)
    assert (line.length, line.ended) == (path.stat().st_size, bool(newline))
    assert not line.too_large
    assert read["content"] == "x" * STRING_LIMIT + CLIPPED
    assert read["list"][4]["deep"].endswith("é" + CLIPPED)
    for key in ("uuid", "text", "after"):
        assert read[key] == record[key]
    assert read["list"][:4] == record["list"][:4]


@pytest.mark.slow
def test_lines_around_a_giant_line_are_complete(tmp_path: Path) -> None:
    giant = b'{"a":"' + b"y" * (LINE_LIMIT * 2) + b'"}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"before":1}\n' + giant + b'\n{"after":1}\n{"torn')

    size = path.stat().st_size
    found = [x for run in segments(path, 0, size) for x in read_lines(path, run)]

    assert [bare(x) for x in (found[0], found[2], found[3])] == [
        b'{"before":1}',
        b'{"after":1}',
        b'{"torn',
    ]
    assert [x.ended for x in found] == [True, True, True, False]
    assert found[1].length == len(giant) + 1
    assert len(found[1].data) < STRING_LIMIT + 100


def test_a_line_that_stays_giant_even_clipped_is_marked_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":[' + b"1," * LINE_LIMIT + b"1]}\nnext\n")

    size = path.stat().st_size
    giant, after = (x for run in segments(path, 0, size) for x in read_lines(path, run))

    assert giant.too_large
    assert len(giant.data) <= LINE_LIMIT
    assert (bare(after), after.too_large) == (b"next", False)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
UNITS = ["x", "é", "中", "😀", '"', "\\", "\n", "\x01", "\\u00e9"]


@pytest.mark.slow
@settings(max_examples=100)
@given(
    record=st.dictionaries(TEXT, JSON, max_size=4),
    unit=st.sampled_from(UNITS),
    shift=st.integers(0, 12),
    ascii_only=st.booleans(),
    chunks=st.lists(st.integers(1, 40_000), max_size=6),
)
def test_clipping_keeps_json_valid_and_short_strings_unchanged(
    record: dict[str, Any], unit: str, shift: int, ascii_only: bool, chunks: list[int]
) -> None:
    long = "x" * shift + unit * (STRING_LIMIT // len(unit.encode()) + 10)
    data = json.dumps({**record, "~long": long, "~end": [record]}, ensure_ascii=ascii_only)

    # The surrogate pair of an escaped emoji may be cut in two: the reader knows how to bear it.
    read = json.loads(clip(data.encode("utf-8", "surrogatepass"), chunks))

    clipped = read.pop("~long")
    assert clipped.endswith(CLIPPED)
    assert long.startswith(clipped.removesuffix(CLIPPED).rstrip("\ud83d"))
    assert len(clipped.encode("utf-8", "replace")) <= STRING_LIMIT + len(CLIPPED.encode())
    assert read == {**record, "~end": [record]}


@pytest.mark.slow
@settings(max_examples=100)
@given(record=JSON, chunks=st.lists(st.integers(1, 20), max_size=30), ascii_only=st.booleans())
def test_clipping_json_without_long_strings_changes_nothing(
    record: object, chunks: list[int], ascii_only: bool
) -> None:
    data = json.dumps(record, ensure_ascii=ascii_only).encode()

    assert clip(data, chunks) == data


@pytest.mark.parametrize("unit", ["é", "中", "😀", "\\u00e9", "\\n", "\\\\", '\\"'])
@pytest.mark.parametrize("before", range(8))
def test_clipping_never_leaves_half_a_character_or_half_an_escape(unit: str, before: int) -> None:
    data = b'{"a":"' + b"x" * before + unit.encode() * STRING_LIMIT + b'","b":"end"}'

    assert orjson.loads(clip(data, []))["b"] == "end"


@pytest.mark.parametrize(
    "unit",
    [*(pytest.param(unit) for unit in ("é", "中", "😀", "\\u00e9")), "\\n", "\\\\"],
)
def test_clipping_is_clean_even_where_two_chunks_meet_within_a_character(unit: str) -> None:
    head = b'{"a":"'
    for kept in range(1, len(unit.encode())):
        filler = b"x" * (STRING_LIMIT - kept)  # the limit falls within the unit
        data = head + filler + unit.encode() * 20 + b'","b":"end"}'
        for end_of_chunk in range(1, kept + 1):
            read = clip(data, [len(head) + len(filler) + end_of_chunk])
            assert orjson.loads(read)["b"] == "end", (kept, end_of_chunk)


@pytest.mark.slow
@settings(max_examples=100)
@given(data=st.binary(min_size=1, max_size=300), extra=st.binary(max_size=50), at=st.data())
def test_a_fingerprint_covers_every_byte_below_the_offset_and_none_above(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, extra: bytes, at: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("print") / "a.jsonl"
    path.write_bytes(data)
    before = fingerprint(path, len(data))

    path.write_bytes(data + extra)
    assert fingerprint(path, len(data)) == before

    place = at.draw(st.integers(0, len(data) - 1))
    changed = bytearray(data)
    changed[place] ^= 1
    path.write_bytes(bytes(changed) + extra)
    assert fingerprint(path, len(data)) != before


def test_a_fingerprint_depends_on_the_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\x00" * 100)

    assert len({fingerprint(path, offset) for offset in (0, 1, 50, 100)}) == 4


def test_the_fingerprint_of_a_large_file_covers_its_start_and_its_end(tmp_path: Path) -> None:
    size = FINGERPRINT_BYTES * 2
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * size)
    before = fingerprint(path, size)

    with path.open("ab") as file:
        file.write(b"appended")
    assert fingerprint(path, size) == before
    for place in (0, size - 1):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"y")
        assert fingerprint(path, size) != before
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"x")


@pytest.mark.parametrize(
    ("data", "start", "expected"),
    [
        (b"", 0, 0),
        (b"\n", 0, 1),
        (b"one", 0, 1),
        (b"one\n", 0, 1),
        (b"one\ntwo", 0, 2),
        (b"one\n\n\n", 0, 3),
        (b"one\ntwo\n", 4, 1),
        (b"one\ntwo\n", 8, 0),
    ],
)
def test_lines_are_counted_including_a_last_one_without_newline(
    tmp_path: Path, data: bytes, start: int, expected: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)

    assert count_lines(path, start, len(data)) == expected
