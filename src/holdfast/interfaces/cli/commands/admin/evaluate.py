"""`holdfast eval`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import ALL_BANKS, utc_now
from holdfast.app.evaluation.distilled import read_distilled
from holdfast.app.evaluation.engine import BUDGETS, derive_all, read_files
from holdfast.app.evaluation.evaluate import Report, evaluate
from holdfast.app.evaluation.home import open_home
from holdfast.app.evaluation.knowledge import KnowledgeReport, measure_knowledge
from holdfast.app.evaluation.labels import LABELS
from holdfast.app.evaluation.metrics import MEASURES, Measures
from holdfast.app.evaluation.out_files import open_ranks, open_records, records_path
from holdfast.app.evaluation.overrides import with_overrides
from holdfast.app.evaluation.own import History, find_questions, too_little_history
from holdfast.app.evaluation.replay import OwnReport, replay
from holdfast.app.evaluation.sets import QUESTIONS, EvaluationSet, read_set, sample_evenly
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import InputError
from holdfast.inference.encoder import packaged_encoder
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.knowledge import knowledge_json, print_knowledge
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.interfaces.cli.screen import Screen, amount, number
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import load_settings
from holdfast.store.across_tables.lookup import Counts
from holdfast.version import __version__

HELP = """\
Measure how well recall answers a set of questions, and how much of what should be known after
a session was extracted.

DIR holds conversations/BANK.jsonl or transcripts/BANK/*.jsonl, and one or both of

  questions.jsonl   one JSON object per line with id, bank, question, gold (ids of turns),
                    gold_sessions, category, abstain
  labels.jsonl      what should be known of transcripts: session (the name of the file
                    without its ending), kind, text, weight (1 to 3); or session, title

The set is read into a temporary memory; your memory is not touched. --out writes one line per
question, with its ranking. If the set has only labels, it writes one line per record and per
session. If it has both, the records go to a second file beside it: for ranks.jsonl to
ranks.records.jsonl.

--own measures your own memory instead, without writing to it: the first request of a session
should find the earlier sessions that changed the same files."""

EXAMPLES = """\
  holdfast eval sets/locomo
  holdfast eval sets/locomo --json --out ranks.jsonl
  holdfast eval sets/locomo --keep /tmp/locomo-home      again, without reading again
  holdfast eval sets/locomo --store postgresql://me@db/scratch
  holdfast eval sets/locomo --keep /tmp/locomo-home --set thresholds.by_words=0.5
  holdfast eval sets/my-sessions --out known.jsonl       with labels.jsonl: what was distilled
  holdfast eval --own --limit-questions 200"""

_HEADS = ("R@5", "R@10", "R@20", "all@10", "MRR", "S@1", "S@5", "S-MRR", "abs-P", "abs-R")
_LEGEND = """\
R@k: share of the gold turns among the first k; all@10: all of them; MRR: one over the place of the
first. S: the same for sessions. abs: precision and recall of abstaining. –: not measurable here."""


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
    parser.repeated(
        "--set",
        "change a ranking parameter, such as weights.words=0.3; repeatable",
        metavar="NAME=VALUE",
    )
    for_out = "write every ranking or record, one JSON object per line"
    options.add_path(parser, "--out", "FILE", for_out)
    for_folder = "keep the temporary memory in this folder, and reuse it"
    options.add_path(parser, "--keep", "FOLDER", for_folder)
    parser.option(
        "--store",
        "URL",
        "use a PostgreSQL database, in a schema that is removed afterwards",
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    folder: Path | None = arguments.folder
    if arguments.own:
        if folder is not None or arguments.keep is not None or arguments.store:
            raise InputError(
                "--own asks your own memory: it takes no DIR, no --keep and no --store.",
                "Leave them out.",
            )
        return _run_own(screen, arguments)
    if folder is None:
        raise InputError(
            "No set is given.", "Give the folder of a set, or --own for your own history."
        )
    if arguments.keep is not None and arguments.store:
        raise InputError("--keep and --store cannot be combined.", "Leave out --keep or --store.")
    if arguments.bank:
        raise InputError(
            "The questions of a set name their banks.", "Leave out --bank, or use --own."
        )
    return _run_set(screen, arguments, folder)


class _Measured(NamedTuple):
    """What was measured on a set, and how much was read of it."""

    folder: Path
    banks: Sequence[str]
    stored: Counts
    failed_lines: int
    report: Report | None
    knowledge: KnowledgeReport | None


def _plan(arguments: Arguments) -> RecallPlan:
    return with_overrides(RecallPlan(budget=Budget(arguments.budget)), arguments.set)


def _run_set(screen: Screen, arguments: Arguments, folder: Path) -> None:
    plan = _plan(arguments)
    wanted = read_set(folder)
    out: Path | None = arguments.out
    _refuse_unusable(arguments, wanted)
    questions = sample_evenly(wanted.questions, arguments.limit_questions)
    records_out = records_path(out) if out and questions else out
    report = knowledge = None
    with (
        open_home(load_settings(), folder, arguments.keep, arguments.store) as memory,
        open_ranks(out if questions else None) as record,
        open_records(records_out if wanted.labels else None) as record_distilled,
    ):
        failed = _load(memory, folder, with_meaning=bool(questions) and arguments.budget != "low")
        if questions:
            asking = Progress("asking", lambda count: number(count, "question"))
            report = evaluate(memory, questions, plan, asking, record, failed)
            asking.finish()
        if wanted.labels:
            listing = Progress("listing", lambda count: number(count, "session"))
            distilled = read_distilled(memory, wanted.files.conversations.values(), listing)
            listing.finish()
            record_distilled(distilled)
            comparing = Progress("comparing", lambda count: number(count, "sentence"))
            knowledge = measure_knowledge(
                wanted.labels,
                distilled,
                packaged_encoder(os.cpu_count() or 1),
                wanted.sessions_without_transcript,
                failed,
                comparing,
            )
            comparing.finish()
        stored = memory.inventory.counts()
    measured = _Measured(folder, wanted.files.banks, stored, failed, report, knowledge)
    if arguments.json:
        screen.json(_set_json(measured))
    else:
        _print_set(screen, measured)


def _refuse_unusable(arguments: Arguments, wanted: EvaluationSet) -> None:
    """Raise an error for options that this set has no use for, or that would destroy it."""
    if not wanted.questions and (arguments.limit_questions is not None or arguments.set):
        raise InputError(
            f"{wanted.folder} has no questions: --limit-questions and --set change nothing.",
            "Leave them out.",
        )
    own = [wanted.folder / name for name in (QUESTIONS, LABELS)]
    if arguments.out and arguments.out.resolve() in [path.resolve() for path in own]:
        raise InputError(f"{arguments.out} is part of the set.", "Give --out another name.")


def _load(memory: Holdfast, folder: Path, with_meaning: bool) -> int:
    """Read a set; returns how many lines could not be read."""
    reading = Progress("reading", amount)
    failed = read_files(memory, folder, reading, os.cpu_count() or 1)
    reading.finish()
    deriving = Progress("deriving", lambda count: number(count, "step"))
    derive_all(memory, deriving)
    deriving.finish()
    if with_meaning:
        embedding = Progress("embedding", lambda count: number(count, "passage"))
        memory.ingestion.embed(on_progress=embedding)
        embedding.finish()
    return failed


def _run_own(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory, open_ranks(arguments.out) as record:
        id = memory.context.bank_id(arguments.bank or ALL_BANKS)
        history = find_questions(memory.reader, id)
        questions = sample_evenly(history.questions, arguments.limit_questions)
        asking = Progress("asking", lambda count: number(count, "question"))
        report = replay(memory, questions, _plan(arguments), asking, record)
        asking.finish()
        name = memory.context.bank_name(id)
    if arguments.json:
        screen.json(_own_report_json(report, history, name))
    else:
        _print_own(screen, report, history, name)


def _set_json(measured: _Measured) -> dict[str, object]:
    report, knowledge, stored = measured.report, measured.knowledge, measured.stored
    asked = report.overall.counts._asdict() if report else {}
    unknown = {"unknown_gold": report.unknown_gold} if report else {}
    return {
        "set": str(measured.folder),
        "date": utc_now(),
        "settings": _settings(report) if report else {"version": __version__},
        "counts": {
            "banks": len(measured.banks),
            "sessions": stored.sessions,
            "turns": stored.turns,
            **asked,
            **unknown,
            "failed_lines": measured.failed_lines,
        },
        **(_report_json(report) if report else {}),
        **({"knowledge": knowledge_json(knowledge)} if knowledge else {}),
    }


def _report_json(report: Report) -> dict[str, object]:
    return {
        "overall": _round_all(report.overall.measures),
        "mean_of_categories": _round_all(report.mean_of_categories),
        "categories": {
            name: {"counts": group.counts._asdict(), **_round_all(group.measures)}
            for name, group in report.categories.items()
        },
        "standard_error": _round_all(report.standard_error),
        "latency_ms": _round_all(report.latency_ms._asdict()),
        "notes": list(report.notes),
        "cannot_claim": list(report.cannot_claim),
    }


def _own_report_json(report: OwnReport, history: History, bank: str) -> dict[str, object]:
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
        "latency_ms": _round_all(report.latency_ms._asdict()),
        "notes": list(report.notes),
        "cannot_claim": list(report.cannot_claim) if report.questions else [],
        "advice": None if report.questions else too_little_history(history),
    }


def _settings(report: Report | OwnReport) -> dict[str, object]:
    return {"version": __version__, **report.parts._asdict(), "budget": report.budget}


def _round_all(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if v is None else round(v, 4) for name, v in values.items()}


def _print_set(screen: Screen, measured: _Measured) -> None:
    report, stored = measured.report, measured.stored
    asked = f"{number(report.overall.counts.questions, 'question')} to " if report else ""
    screen.line(
        f"{screen.paint(str(measured.folder), 'bold')}: {asked}"
        f"{number(len(measured.banks), 'bank')} with {number(stored.sessions, 'session')}, "
        f"{number(stored.turns, 'turn')}"
    )
    screen.line()
    if report:
        _print_report(screen, report)
    if report and measured.knowledge:
        screen.line()
    if measured.knowledge:
        print_knowledge(screen, measured.knowledge)


def _print_report(screen: Screen, report: Report) -> None:
    counts = report.overall.counts
    _print_table(screen, report)
    screen.line()
    screen.wrap(_LEGEND)
    screen.title(
        f"abstained {counts.abstained:,} times; {counts.unanswerable:,} of "
        f"{number(counts.questions, 'question')} are unanswerable"
    )
    _print_circumstances(screen, report)


def _print_table(screen: Screen, report: Report) -> None:
    names = ["mean of categories", *report.categories]
    width = min(30, max(map(len, names)))
    heads = "".join(f"{head:>7}" for head in _HEADS)
    screen.line(f"{'':<{width}}{'n':>6}{heads}", "dim")

    def row(name: str, count: str, measures: Measures, *styles: str) -> None:
        cells = "".join(f"{_format_measure(measures[measure]):>7}" for measure in MEASURES)
        name = name if len(name) <= width else name[: width - 1] + "…"
        screen.line(f"{name:<{width}}{count:>6}{cells}", *styles)

    row("overall", f"{report.overall.counts.questions:,}", report.overall.measures, "bold")
    if len(report.categories) > 1:
        row("mean of categories", "", report.mean_of_categories)
    for name, found in report.categories.items():
        row(name, f"{found.counts.questions:,}", found.measures)


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
