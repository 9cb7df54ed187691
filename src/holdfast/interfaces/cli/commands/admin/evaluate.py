"""`holdfast eval`."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from holdfast.app.core.context import ALL_BANKS, utc_now
from holdfast.app.evaluation.distilled import Distilled, read_distilled
from holdfast.app.evaluation.engine import BUDGETS, Ranking, Record, load_set, open_home
from holdfast.app.evaluation.evaluate import Report, evaluate
from holdfast.app.evaluation.metrics import MEASURES, Measures
from holdfast.app.evaluation.own import (
    History,
    OwnReport,
    find_questions,
    replay,
    too_little_history,
)
from holdfast.app.evaluation.sets import EvaluationSet, read_set, sample_evenly
from holdfast.app.memory import open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.model.to_json import to_jsonable
from holdfast.operations.screen import Screen, amount, number
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import load_settings
from holdfast.sources.json_fields import mapping
from holdfast.store.across_tables.lookup import Counts
from holdfast.version import __version__

HELP = """\
Measure how well recall answers a set of questions, and write what was distilled of sessions.

DIR holds conversations/BANK.jsonl or transcripts/BANK/*.jsonl, and one or both of

  questions.jsonl   one JSON object per line with id, bank, question, gold (ids of turns),
                    gold_sessions, category, abstain
  labels.jsonl      what should be known of the transcripts; only that it is there counts

The set is read into a temporary memory; your memory is not touched. --out writes one line per
question, with its ranking. If the set has only labels, it writes one line per record and per
session. If it has both, the records go to a second file beside it: for ranks.jsonl to
ranks.records.jsonl.

--own measures your own memory instead, without writing to it: the first request of a session
should find the earlier sessions that changed the same files."""

EXAMPLES = """\
  holdfast eval sets/locomo
  holdfast eval sets/locomo --json --out ranks.jsonl
  holdfast eval sets/my-sessions --out known.jsonl       with labels.jsonl: what was distilled
  holdfast eval --own --limit-questions 200"""

_HEADS = ("R@5", "R@10", "R@20", "all@10", "MRR", "S@1", "S@5", "S-MRR", "abs-P", "abs-R")
_LEGEND = """\
R@k: share of the gold turns among the first k; all@10: all of them; MRR: one over the place of the
first. S: the same for sessions. abs: precision and recall of abstaining. –: not measurable here."""
# A file whose first line has one of these keys was written by `--out`, which may overwrite it.
_OUT_KEYS = frozenset({"abstained", "summary", "evidence"})


def configure(parser: Parser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=options.some_path, metavar="DIR", help="the set to measure on"
    )
    parser.flag("--own", "measure your own memory instead of a set")
    parser.option("--bank", "NAME", "with --own: which bank (default: all banks)", None)
    parser.option(
        "--limit-questions",
        "N",
        "use only this many questions, evenly spread",
        None,
        options.positive,
    )
    parser.choice("--budget", BUDGETS, "the budget of recall", "mid")
    for_out = "write every ranking or record, one JSON object per line"
    options.add_path(parser, "--out", "FILE", for_out)
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    folder: Path | None = arguments.folder
    if arguments.own:
        if folder is not None:
            raise InputError("--own asks your own memory: it takes no DIR.", "Leave it out.")
        return _run_own(screen, arguments)
    if folder is None:
        raise InputError(
            "No set is given.", "Give the folder of a set, or --own for your own history."
        )
    if arguments.bank:
        raise InputError(
            "The questions of a set name their banks.", "Leave out --bank, or use --own."
        )
    return _run_set(screen, arguments, folder)


def _run_set(screen: Screen, arguments: Arguments, folder: Path) -> None:
    wanted = read_set(folder)
    questions = sample_evenly(wanted.questions, arguments.limit_questions)
    out: Path | None = arguments.out
    records_out = out.with_name(f"{out.stem}.records{out.suffix}") if out and questions else out
    report = distilled = None
    with (
        open_home(load_settings()) as memory,
        _open_out(out if questions else None) as ranks,
        _open_out(records_out if wanted.has_labels else None) as records,
    ):
        needs_vectors = bool(questions) and arguments.budget != "low"
        failed = load_set(memory, wanted, needs_vectors, _watch)
        if questions:
            with _watch("asking") as progress:
                plan = RecallPlan(budget=Budget(arguments.budget))
                report = evaluate(memory, questions, plan, progress, _recorder(ranks), failed)
        if wanted.has_labels:
            distilled = read_distilled(memory, wanted.conversations.values())
            _write(records, (one._asdict() for one in distilled.sessions))
            _write(records, (to_jsonable(one) for one in distilled.records))
        stored = memory.inventory.counts()
    if arguments.json:
        screen.json(_set_json(wanted, stored, failed, report, distilled))
        return
    asked = f"{number(len(questions), 'question')} to " if report else ""
    screen.line(
        f"{screen.paint(str(folder), 'bold')}: {asked}{number(len(wanted.banks), 'bank')} with "
        f"{number(stored.sessions, 'session')}, {number(stored.turns, 'turn')}"
    )
    if distilled:
        screen.line(
            f"distilled: {number(len(distilled.records), 'record')} of "
            f"{number(len(distilled.sessions), 'transcript')}"
        )
    if report:
        screen.line()
        _print_report(screen, report)


def _run_own(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory, _open_out(arguments.out) as out:
        id = memory.context.bank_id(arguments.bank or ALL_BANKS)
        history = find_questions(memory.reader, id)
        questions = sample_evenly(history.questions, arguments.limit_questions)
        plan = RecallPlan(budget=Budget(arguments.budget))
        with _watch("asking") as progress:
            report = replay(memory, questions, plan, progress, _recorder(out))
        name = memory.context.bank_name(id)
    if arguments.json:
        screen.json(_own_json(report, history, name))
    else:
        _print_own(screen, report, history, name)


_NOUNS = {"deriving": "step", "embedding": "passage", "asking": "question"}


@contextmanager
def _watch(step: str) -> Generator[Progress]:
    noun = _NOUNS.get(step)
    progress = Progress(step, lambda count: number(count, noun) if noun else amount(count))
    yield progress
    progress.finish()


@contextmanager
def _open_out(path: Path | None) -> Generator[TextIO | None]:
    """A file for lines of JSON. Overwrites only what an evaluation wrote."""
    if path is None:
        yield None
        return
    try:
        if path.exists() and not _is_own(path):
            raise InputError(
                f"{path} already exists and was not written by `holdfast eval`.",
                "Give --out another name.",
            )
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", "Give --out a file you may write to."
        ) from error
    with file:
        yield file


def _is_own(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(1 << 20)
    try:
        found: Any = json.loads(line or "{}")
    except ValueError:
        return False
    # The questions and labels of a set have none of these.
    keys = set(mapping(found))
    return isinstance(found, dict) and (not keys or not _OUT_KEYS.isdisjoint(keys))


def _write(file: TextIO | None, lines: Iterable[Mapping[str, Any]]) -> None:
    if file is not None:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _recorder(file: TextIO | None) -> Record:
    def record(id: str, ranking: Ranking) -> None:
        line = {"id": id, **ranking._asdict(), "ms": round(ranking.ms, 3)}
        del line["absent"]
        _write(file, [line])

    return record


def _set_json(
    wanted: EvaluationSet,
    stored: Counts,
    failed: int,
    report: Report | None,
    distilled: Distilled | None,
) -> dict[str, object]:
    counts = {"banks": len(wanted.banks), "sessions": stored.sessions, "turns": stored.turns}
    if report:
        counts |= {**report.overall.counts._asdict(), "unknown_gold": report.unknown_gold}
    if distilled:
        counts |= {"records": len(distilled.records), "transcripts": len(distilled.sessions)}
    found: dict[str, object] = {"set": str(wanted.folder), "date": utc_now()}
    found["settings"] = _settings(report) if report else {"version": __version__}
    found["counts"] = {**counts, "failed_lines": failed}
    if report is None:
        return found
    return found | {
        "overall": _round_all(report.overall.measures),
        "mean_of_categories": _round_all(report.mean_of_categories),
        "categories": {
            name: {"counts": group.counts._asdict(), **_round_all(group.measures)}
            for name, group in report.categories.items()
        },
        "standard_error": _round_all(report.standard_error),
        **_circumstances(report),
    }


def _own_json(report: OwnReport, history: History, bank: str) -> dict[str, object]:
    return {
        "own": True,
        "bank": bank,
        "date": utc_now(),
        "settings": _settings(report),
        "counts": {
            "sessions": history.sessions,
            "openings": history.openings,
            "questions": report.questions,
        },
        "overall": _round_all(report.measures),
        "chance": _round_all(report.chance),
        **_circumstances(report),
        "advice": None if report.questions else too_little_history(history),
    }


def _settings(report: Report | OwnReport) -> dict[str, object]:
    return {"version": __version__, **report.parts._asdict(), "budget": report.budget}


def _circumstances(report: Report | OwnReport) -> dict[str, object]:
    return {
        "latency_ms": _round_all(report.latency_ms._asdict()),
        "notes": list(report.notes),
        "cannot_claim": list(report.cannot_claim),
    }


def _round_all(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if v is None else round(v, 4) for name, v in values.items()}


def _print_report(screen: Screen, report: Report) -> None:
    counts = report.overall.counts
    names = ["mean of categories", *report.categories]
    width = min(30, max(map(len, names)))
    heads = "".join(f"{head:>7}" for head in _HEADS)
    screen.line(f"{'':<{width}}{'n':>6}{heads}", "dim")

    def row(name: str, count: str, measures: Measures, *styles: str) -> None:
        cells = "".join(f"{_format_measure(measures[measure]):>7}" for measure in MEASURES)
        name = name if len(name) <= width else name[: width - 1] + "…"
        screen.line(f"{name:<{width}}{count:>6}{cells}", *styles)

    row("overall", f"{counts.questions:,}", report.overall.measures, "bold")
    if len(report.categories) > 1:
        row("mean of categories", "", report.mean_of_categories)
    for name, found in report.categories.items():
        row(name, f"{found.counts.questions:,}", found.measures)
    screen.line()
    screen.wrap(_LEGEND)
    screen.title(
        f"abstained {counts.abstained:,} times; {counts.unanswerable:,} of "
        f"{number(counts.questions, 'question')} are unanswerable"
    )
    _print_circumstances(screen, report)


def _format_measure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _print_circumstances(screen: Screen, report: Report | OwnReport) -> None:
    """How long it took, with which models, and what the numbers do not show."""
    latency, parts = report.latency_ms, report.parts
    if latency.p50 is not None and latency.p95 is not None:
        screen.line(f"latency: p50 {latency.p50:.1f} ms, p95 {latency.p95:.1f} ms")
    embedding = f"embedding {parts.embedding}" if parts.embedding else "no embedding model"
    reranker = f"reranker {parts.reranker}" if parts.reranker else "no reranker"
    screen.line(f"holdfast {__version__}: {embedding}, {reranker}, budget {report.budget}")
    for note in report.notes:
        screen.wrap(note)
    screen.title("What this cannot claim", "bold")
    for limit in report.cannot_claim:
        screen.wrap(limit, "  - ", "    ")


def _print_own(screen: Screen, report: OwnReport, history: History, bank: str) -> None:
    if not report.questions:
        screen.wrap(too_little_history(history))
        return
    of = screen.paint("your own history" if bank == ALL_BANKS else f"the history of {bank}", "bold")
    screen.line(
        f"{of}: {number(report.questions, 'question')}, from {history.openings:,} typed requests "
        f"that open {number(history.sessions, 'session')}"
    )
    screen.line()
    for name, label in (
        ("session_hit@1", "the right session came first"),
        ("session_hit@5", "it was among the first five"),
        ("session_mrr", "mean of one over its place"),
    ):
        by_chance = report.chance.get(name)
        aside = "" if by_chance is None else f"   (by chance {by_chance:.3f})"
        screen.line(f"  {_format_measure(report.measures[name])}  {label}{aside}")
    screen.line()
    _print_circumstances(screen, report)
