from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from holdfast.capture import journal


def event(id: str, **more: object) -> journal.Event:
    return {"v": 1, "id": id, "event": "Stop", **more}


def test_an_event_is_appended_once_however_often_it_arrives(tmp_path: Path) -> None:
    path = tmp_path / "events" / "s.jsonl"
    assert journal.append(path, [event("a"), event("b"), event("a")]) == 2
    assert journal.append(path, [event("b"), event("c")]) == 1
    assert [event["id"] for event in journal.read(path)] == ["a", "b", "c"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.slow
@examples(max_examples=60)
@given(st.lists(st.text(), max_size=4), st.data())
def test_a_truncated_line_is_repaired_by_the_next_append(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("j") / "s.jsonl"
    events = [event(str(n), text=text) for n, text in enumerate(texts)]
    journal.append(path, events)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    journal.append(path, events)
    assert path.read_bytes() == whole
    assert [e["id"] for e in journal.read(path)] == [str(n) for n in range(len(texts))]


def test_lines_that_are_not_events_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'\n[1]\nnot json\n\xff\n{"v":1,"id":"a"}\n{"v":1,"id":"torn')
    assert [e["id"] for e in journal.read(path)] == ["a"]
    assert list(journal.read(tmp_path / "none.jsonl")) == []


def test_a_full_disk_does_not_change_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal.append(path, [event("a")])
    before = path.read_bytes()
    code = (
        "import resource, signal, sys; from pathlib import Path;"
        "from holdfast.capture import journal;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000));"
        "events = [{'v': 1, 'id': str(n), 'text': 'x' * 1000} for n in range(20)];"
        "path = Path(sys.argv[1])\n"
        "try: journal.append(path, events)\n"
        "except OSError: sys.exit(7)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert done.returncode == 7
    assert path.read_bytes() == before


def test_two_processes_that_append_the_same_event_write_it_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    code = (
        "import sys; from pathlib import Path; from holdfast.capture import journal\n"
        "for n in range(200): journal.append(Path(sys.argv[1]), [{'v': 1, 'id': str(n)}])"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    assert [process.wait(timeout=120) for process in both] == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert sorted(int(json.loads(line)["id"]) for line in lines) == list(range(200))
