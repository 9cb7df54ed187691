"""`holdfast eval`."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from holdfast.app.core.context import ALL_BANKS, utc_now
from holdfast.app.evaluation.asking import (
    Circumstances,
    Measures,
    Ranking,
    Record,
    Report,
    evaluate,
)
from holdfast.app.evaluation.distilled import read_distilled
from holdfast.app.evaluation.own import find_questions, replay, too_little_history
from holdfast.app.evaluation.sets import load_set, open_home, read_set, sample_evenly
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
_NOUNS = {"deriving": "step", "embedding": "passage", "asking": "question"}


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
    parser.choice("--budget", Budget, "the budget of recall", Budget.MID)
    parser.option(
        "--out",
        "FILE",
        "write every ranking or record, one JSON object per line",
        None,
        options.some_path,
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    folder: Path | None = arguments.folder
    if arguments.own and folder is not None:
        raise InputError("--own asks your own memory: it takes no DIR.", "Leave it out.")
    if not arguments.own and folder is None:
        raise InputError(
            "No set is given.", "Give the folder of a set, or --own for your own history."
        )
    if arguments.bank and folder is not None:
        raise InputError(
            "The questions of a set name their banks.", "Leave out --bank, or use --own."
        )
    plan = RecallPlan(budget=Budget(arguments.budget))
    if folder is None:
        _run_own(screen, arguments, plan)
    else:
        _run_set(screen, arguments, folder, plan)


def _run_set(screen: Screen, arguments: Arguments, folder: Path, plan: RecallPlan) -> None:
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
        needs_vectors = bool(questions) and plan.budget is not Budget.LOW
        failed = load_set(memory, wanted, needs_vectors, _watch)
        if questions:
            with _watch("asking") as progress:
                report = evaluate(memory, questions, plan, progress, _recorder(ranks), failed)
        if wanted.has_labels:
            distilled = read_distilled(memory, wanted.conversations.values())
            _write(records, (one._asdict() for one in distilled.sessions))
            _write(records, (to_jsonable(one) for one in distilled.records))
        stored = memory.inventory.counts()
    counts = {"banks": len(wanted.banks), "sessions": stored.sessions, "turns": stored.turns}
    if report:
        counts |= {**report.overall.counts._asdict(), "unknown_gold": report.unknown_gold}
    if distilled:
        counts |= {"records": len(distilled.records), "transcripts": len(distilled.sessions)}
    counts["failed_lines"] = failed
    if arguments.json:
        found: dict[str, Any] = {"set": str(wanted.folder), "date": utc_now(), "counts": counts}
        found["settings"] = {"version": __version__}
        if report:
            found |= {
                "overall": report.overall.measures,
                "mean_of_categories": report.mean_of_categories,
                "categories": {
                    name: {"counts": group.counts._asdict(), **group.measures}
                    for name, group in report.categories.items()
                },
                "standard_error": report.overall.standard_error,
                **report.about._asdict(),
            }
        return screen.json(_rounded(found))
    asked = f"{number(len(questions), 'question')} to " if report else ""
    screen.line(
        f"{screen.paint(str(folder), 'bold')}: {asked}{number(len(wanted.banks), 'bank')} with "
        f"{number(stored.sessions, 'session')}, {number(stored.turns, 'turn')}"
    )
    if distilled:
        screen.line(
            f"distilled: {number(counts['records'], 'record')} of "
            f"{number(counts['transcripts'], 'transcript')}"
        )
    if report:
        screen.line()
        _print_report(screen, report)


def _print_report(screen: Screen, report: Report) -> None:
    width = min(30, max(map(len, ("mean of categories", *report.categories))))
    heads = "".join(f"{head:>7}" for head in _HEADS)
    screen.line(f"{'':<{width}}{'n':>6}{heads}", "dim")

    def row(name: str, count: str, measures: Measures, *styles: str) -> None:
        cells = "".join(f"{_figure(value):>7}" for value in measures.values())
        name = name if len(name) <= width else name[: width - 1] + "…"
        screen.line(f"{name:<{width}}{count:>6}{cells}", *styles)

    overall = report.overall.counts
    row("overall", f"{overall.questions:,}", report.overall.measures, "bold")
    if len(report.categories) > 1:
        row("mean of categories", "", report.mean_of_categories)
    for name, group in report.categories.items():
        row(name, f"{group.counts.questions:,}", group.measures)
    screen.line()
    screen.wrap(_LEGEND)
    screen.title(
        f"abstained {overall.abstained:,} times; {overall.unanswerable:,} of "
        f"{number(overall.questions, 'question')} are unanswerable"
    )
    _print_circumstances(screen, report.about)


def _run_own(screen: Screen, arguments: Arguments, plan: RecallPlan) -> None:
    with open_memory(create=False) as memory, _open_out(arguments.out) as out:
        id = memory.context.bank_id(arguments.bank or ALL_BANKS)
        history = find_questions(memory.reader, id)
        questions = sample_evenly(history.questions, arguments.limit_questions)
        with _watch("asking") as progress:
            report = replay(memory, questions, plan, progress, _recorder(out))
        bank = memory.context.bank_name(id)
    sessions, openings = history.sessions, history.openings
    advice = None if report.questions else too_little_history(history)
    if arguments.json:
        counts = {"sessions": sessions, "openings": openings, "questions": report.questions}
        measured = {"overall": report.measures, "chance": report.chance}
        found = {"own": True, "bank": bank, "date": utc_now(), "counts": counts, **measured}
        return screen.json(_rounded({**found, **report.about._asdict(), "advice": advice}))
    if advice:
        return screen.wrap(advice)
    of = screen.paint("your own history" if bank == ALL_BANKS else f"the history of {bank}", "bold")
    screen.line(
        f"{of}: {number(report.questions, 'question')}, from {openings:,} typed requests "
        f"that open {number(sessions, 'session')}"
    )
    screen.line()
    for name, label in (
        ("session_hit@1", "the right session came first"),
        ("session_hit@5", "it was among the first five"),
        ("session_mrr", "mean of one over its place"),
    ):
        aside = f"   (by chance {_figure(report.chance[name])})" if name in report.chance else ""
        screen.line(f"  {_figure(report.measures[name])}  {label}{aside}")
    screen.line()
    _print_circumstances(screen, report.about)


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


def _rounded(value: Any) -> Any:
    """The value with every figure in it rounded."""
    if isinstance(value, float):
        return round(value, 4)
    return {name: _rounded(one) for name, one in mapping(value).items()} or value


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _print_circumstances(screen: Screen, about: Circumstances) -> None:
    """How long it took, with which models, and what the numbers do not show."""
    p50, p95 = about.latency_ms["p50"], about.latency_ms["p95"]
    if p50 is not None and p95 is not None:
        screen.line(f"latency: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    used = about.settings
    embedding = f"embedding {used['embedding']}" if used["embedding"] else "no embedding model"
    reranker = f"reranker {used['reranker']}" if used["reranker"] else "no reranker"
    screen.line(f"holdfast {used['version']}: {embedding}, {reranker}, budget {used['budget']}")
    for note in about.notes:
        screen.wrap(note)
    screen.title("What this cannot claim", "bold")
    for limit in about.cannot_claim:
        screen.wrap(limit, "  - ", "    ")
