"""The bar of `holdfast ingest`: it moves through all phases, never back, and ends full."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.interfaces.cli.ingest_progress import (
    IngestProgress,
    Phase,
    estimate_seconds,
)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_is_written_over() -> None:
    terminal, times = Terminal(), iter([0.0, 0.0, 0.05, 65.0, 65.01, 66.0])
    with IngestProgress(quiet=False, stream=terminal, clock=lambda: next(times)) as bar:
        watch = bar.watch(Phase.READ, lambda number: f"{number} MB")
        watch(1, 2)
        watch(2, 2)
    *drawn, end = terminal.getvalue().split("\r")[1:]
    assert len(drawn) == 2 and "\n" not in "".join(drawn)
    assert drawn[0].startswith("reading transcripts") and "  0%" in drawn[0]
    assert "  2% 1 MB of 2 MB 1:05\x1b[K" in drawn[1]
    assert end.startswith("done") and end.endswith("100% 1:06\x1b[K\n")


def test_nothing_is_drawn_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    file, quiet, dumb = StringIO(), Terminal(), Terminal()
    for stream, is_quiet in ((file, False), (quiet, True)):
        with IngestProgress(is_quiet, stream) as bar:
            bar.show(Phase.EMBED, 1, 2)
    monkeypatch.setenv("TERM", "dumb")
    with IngestProgress(False, dumb) as bar:
        bar.show(Phase.EMBED, 1, 2)
    assert [file.getvalue(), quiet.getvalue(), dumb.getvalue()] == ["", "", ""]


REPORTS = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), max_size=6)


@pytest.mark.slow
@given(st.fixed_dictionaries(dict.fromkeys(Phase, REPORTS)))
def test_the_bar_never_moves_back_whatever_phases_report(
    reports: dict[Phase, list[tuple[int, int]]],
) -> None:
    bar = IngestProgress(quiet=True)
    before = 0.0
    for phase in Phase:
        watch = bar.watch(phase)
        for done, total in reports[phase]:
            watch(done, total)
            assert before <= bar.fraction <= 1.0 + 1e-9
            before = bar.fraction


def test_more_cores_read_sooner_and_embedding_takes_no_longer_than_its_limit() -> None:
    one, two = (estimate_seconds(100_000_000, cores, 20) for cores in (1, 2))
    assert two < one and one - two == pytest.approx(100 / 1.6 / 2, abs=1)
    assert estimate_seconds(0, 2, 20) < 5
