"""The steps of a pass of the worker. `STEPS`, at the end, lists them in their order.

Each step takes the pass, returns a short text on what it did ("" for nothing), and finds its work
in the store or the home, so that it can be interrupted and run again. Steps that need a model or
git import it only when there is such work, which keeps the usual pass fast to start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

from holdfast.app.background.step_runner import Step, TimeUpError, WorkerPass, join_counts
from holdfast.app.background.transcript_queue import is_old
from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.curation.erasure import remove_derived_files
from holdfast.app.ingest import stages
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.brief.injection_outcomes import settle_injections
from holdfast.capture.inbox import make_inbox
from holdfast.errors import HoldfastError
from holdfast.inference import packaged
from holdfast.language import counted
from holdfast.learn.erasure import is_unfinished, overwrite_erased
from holdfast.model.ledgers.injections import Injection
from holdfast.model.ledgers.lines import Source
from holdfast.refine.core.banks import Banks
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.refine.hooks import drain as events
from holdfast.refine.hooks import reconcile as reconciling
from holdfast.refine.hooks.drain import InjectionNote
from holdfast.refine.sessions.derive import derive_stale
from holdfast.settings import NO_MODEL, OFF, Settings
from holdfast.store.protocol import Reader
from holdfast.times import age_s, mark_time

_DAY_S = 86400.0
# A mark says that something was already done for a session; after this long without a change the
# session counts as over.
_MARKS_KEPT_S = 30 * _DAY_S
# A half-written file this old belongs to a process that was killed.
_LEFTOVERS_KEPT_S = _DAY_S
# Seconds that embedding may take in one pass: commits and turns, of which there are many, at most
# the first; all together at most the second. What is left waits for the next pass, so that new
# events are not held up.
_EMBED_TURNS_S = 20.0
_EMBED_ALL_S = 60.0
# Checking all stored vectors, and deleting those that nothing needs, takes 0.3 s at 32,000 of them;
# so it is not done after every session. The file in their folder that notes when it was done.
_VECTORS_CHECKED_S = _DAY_S
_CHECKED = "checked"
# Building the concepts of a bank takes a second or more from about so many passages on, and longer
# the larger it is. So it is done when this share of its sessions has changed, which costs a session
# as much in a bank of any size, or after the longer time; and never before the shorter time is
# over, so that reading a backlog is not held up.
_LARGE_BANK = 3000
_GROUPING_SHARE = 0.02
_GROUPING_S = 3600.0
_LONGEST_GROUPING_S = _DAY_S
# What a stage makes. Its own count is of banks, sessions or records, which is of no use to people.
_STAGE_RESULTS = {
    "facts": "facts",
    "patterns": "patterns",
    "retain": "memories",
    "reflect": "opinions",
    "concepts": "concepts",
    "entities": "entities",
    "authorship": "authors of commits",
}


def drain(worker_pass: WorkerPass) -> str:
    """Move hook events from the inbox to journals, with secrets redacted."""
    if worker_pass.paths.inbox_pointer.exists():
        make_inbox(worker_pass.paths)
    settings = worker_pass.settings
    done = events.drain(
        worker_pass.paths,
        Banks(settings),
        exclusion_rules(settings),
        worker_pass.now,
        partial(_record_injections, worker_pass),
    )
    for problem in done.problems:
        worker_pass.log.write(f"an event cannot be kept: {problem}")
    for activity in done.sessions.values():
        worker_pass.sessions.add(activity.session)
        if activity.transcript:
            worker_pass.transcripts.add(Path(activity.transcript))
    if done.problems:
        raise HoldfastError(
            f"Events cannot be stored: {done.problems[0]}.", "Free some disk space."
        )
    failed = f", {done.failed} of them cut short" if done.failed else ""
    return f"{done.events} events{failed}" if done.events else ""


def _record_injections(worker_pass: WorkerPass, notes: Sequence[InjectionNote]) -> bool:
    """Record injected context in the store; returns False if the memory is not open, and the notes
    are then kept for later."""
    if worker_pass.open_memory is None:
        return False
    store, banks = worker_pass.memory.store, worker_pass.memory.context.bank_maker
    with store.transaction():
        for note in notes:
            bank = banks.ensure(store, note.cwd) if note.cwd else ""
            about = note.session, note.time, note.kind, note.characters, note.records
            store.injections.add(Injection(note.id, bank, *about))
    return True


def reconcile(worker_pass: WorkerPass) -> str:
    """Read the transcripts that journals name, and for sessions that have ended the events of the
    journal that the transcripts lack."""
    memory, paths = worker_pass.memory, worker_pass.paths
    rules = exclusion_rules(worker_pass.settings)
    done = reconciling.reconcile(
        memory.store, memory.context.bank_maker, paths, rules, worker_pass.now
    )
    _log_gone(worker_pass, done.transcripts.gone)
    read = done.journals
    old = reconciling.remove_old_journals(memory.store, paths, worker_pass.now())
    return join_counts(
        (read.files_read, f"{read.captured} of {read.lines} events were in no transcript"),
        (old, f"{counted(old, 'old journal')} removed"),
    )


def _log_gone(worker_pass: WorkerPass, sources: Iterable[Source]) -> None:
    for source in sources:
        worker_pass.log.write(
            f"gone: {source.path} ({counted(source.lines, 'line')} of it are kept)"
        )


def ingest(worker_pass: WorkerPass) -> str:
    """Read the transcripts of sessions with events, then a batch of all others that changed."""
    inputs = worker_pass.queue.for_sessions(worker_pass.sessions, worker_pass.transcripts)
    if worker_pass.queue.scan_is_due():
        problems: list[str] = []
        worker_pass.queue.scan(worker_pass.memory.reader, problems)
        for problem in problems:
            worker_pass.log.write(f"left out: {problem}")
    known = {item.path for item in inputs}
    inputs += [item for item in worker_pass.queue.take_batch() if item.path not in known]
    report = worker_pass.memory.ingestion.ingest(
        inputs,
        workers=1,
        on_progress=lambda done, total: worker_pass.on_progress("reading", done, total),
        then_know=False,
    )
    _log_gone(worker_pass, report.gone)
    worker_pass.queue.mark_batch_read()
    worker_pass.transcripts_read = True
    worker_pass.run_again = worker_pass.run_again or worker_pass.queue.has_more
    return join_counts(
        (
            report.files_read,
            f"{counted(report.lines, 'line')} of {counted(report.files_read, 'file')}",
        ),
        (report.gone, f"{counted(len(report.gone), 'file')} gone from disk"),
    )


def read_git_history(worker_pass: WorkerPass) -> str:
    """Read the new commits of repositories, and the histories of those that sessions work in."""
    if not worker_pass.settings.git_read:
        return ""
    reader, known = worker_pass.memory.reader, worker_pass.memory.reader.git.repositories()
    is_new = worker_pass.settings.git_sessions and reader.sessions.latest(None, 1)
    if not known and not is_new:
        return ""
    from holdfast.app.background import git_follow

    return git_follow.follow_histories(worker_pass, known)


def derive(worker_pass: WorkerPass) -> str:
    """Derive the sessions whose derivation was interrupted."""
    done = derive_stale(worker_pass.memory.store, worker_pass.reporter("deriving"))
    return counted(done, "session") if done else ""


def summarise(worker_pass: WorkerPass) -> str:
    """Let a model summarise exchanges and sessions, if the settings name one."""
    if worker_pass.settings.models.use == NO_MODEL:
        return ""
    from holdfast.app.background import model_tasks

    done = model_tasks.summarise(worker_pass.memory, worker_pass.reporter("summing up"))
    return join_counts(
        (
            done.exchanges + done.digests,
            f"{counted(done.exchanges, 'exchange')}, {counted(done.digests, 'session')}",
        ),
        (done.failed, f"{done.failed} came to nothing"),
        (done.stopped, f"stopped: {done.stopped}"),
    )


def extract(worker_pass: WorkerPass) -> str:
    """Let a model extract memories, if the settings name one for that."""
    models = worker_pass.settings.models
    if models.use == NO_MODEL or not models.extraction:
        return ""
    from holdfast.app.background import model_tasks

    done = model_tasks.extract_memories(worker_pass.memory, worker_pass.reporter("extracting"))
    return join_counts(
        (done.exchanges, f"memories of {counted(done.exchanges, 'exchange')}"),
        (done.failed, f"{done.failed} came to nothing"),
        (done.stopped, f"stopped: {done.stopped}"),
    )


def update_knowledge(worker_pass: WorkerPass) -> str:
    """Apply the retention of banks, and update facts, memories, concepts and rules from what has
    changed."""
    store = worker_pass.memory.store
    retention: list[str] = []
    for bank in store.banks.all():
        if bank.retention:
            from holdfast.learn import bank_settings

            gone, back = bank_settings.apply_retention(store, bank, worker_pass.now)
            worker_pass.run_again = worker_pass.run_again or bool(gone or back)
            retention += [
                f"{counted(gone, 'session')} of {bank.name} hidden by its retention"
            ] * bool(gone)
            retention += [f"{counted(back, 'session')} of {bank.name} shown again"] * bool(back)
    for line in retention:
        worker_pass.log.write(line)
    on_progress = worker_pass.reporter("knowing")
    settings, now = worker_pass.settings, worker_pass.now
    among = [stage for stage in stages.STAGES if stage is not stages.CONCEPTS]
    done = stages.update_stages(store, settings, now, on_progress, among)
    proposed = worker_pass.memory.rules.sync_all(on_progress, among)
    updated = ", ".join(_STAGE_RESULTS[name] for name, count in done.items() if count)
    return join_counts(
        *((True, line) for line in retention),
        (updated, f"brought up to date: {updated}"),
        (proposed, f"rules proposed: {proposed}"),
    )


def record_injection_outcomes(worker_pass: WorkerPass) -> str:
    """Record whether the context injected into sessions that have ended was used."""
    done = settle_injections(worker_pass.memory.store, worker_pass.now())
    return f"{done.settled} injections" if done.settled else ""


def write_briefs(worker_pass: WorkerPass) -> str:
    """Write the briefs of the next sessions, so that hooks only have to read a file."""
    written = prepare_briefs(worker_pass.settings, worker_pass.now)
    return counted(len(written), "bank") if written else ""


def finish_erasure(worker_pass: WorkerPass) -> str:
    """Finish an erasure that was interrupted."""
    if not is_unfinished(worker_pass.memory.store):
        return ""
    overwrite_erased(worker_pass.memory.store)
    remove_derived_files(worker_pass.settings)
    return "erased text was removed from all files"


def embed(worker_pass: WorkerPass) -> str:
    """Embed the passages that have no vector yet, within the time limits of a pass. Once a day, all
    stored vectors are checked too."""
    settings, now = worker_pass.settings, worker_pass.now()
    check_all = is_old(settings.vectors / _CHECKED, _VECTORS_CHECKED_S, now)
    if not needs_embedding(worker_pass.memory.reader, settings, check_all):
        return ""
    until = monotonic() + _EMBED_ALL_S
    reached = 0

    def on_progress(done: int, total: int) -> None:
        nonlocal reached
        reached = done
        worker_pass.on_progress("embedding", done, total)
        if monotonic() > until:
            raise TimeUpError

    try:
        left = worker_pass.memory.ingestion.embed(
            _EMBED_TURNS_S, on_progress, threads=1, then_group=False, check_all=check_all
        )
    except TimeUpError:
        left = 1
    if check_all and not left:
        _mark_vectors_checked(settings, now)
    worker_pass.run_again = worker_pass.run_again or bool(left and reached)
    return f"{counted(reached, 'passage')} got vectors{'; more wait' if left else ''}"


def group_concepts(
    worker_pass: WorkerPass, large: int = _LARGE_BANK, share: float = _GROUPING_SHARE
) -> str:
    """Build the concepts of the banks that changed, now that there are vectors. All of a bank are
    built anew: in a bank with `large` passages when this `share` of its sessions has changed, or
    after a day."""
    store, marks = worker_pass.memory.store, worker_pass.paths.grouping_marks
    behind = stages.CONCEPTS.banks_behind(store, worker_pass.settings)
    big = {bank for bank in behind if store.passages.count(bank, large) >= large}
    due = [bank for bank in behind if bank not in big or _is_due(worker_pass, bank, share)]
    if not due:
        return ""
    changed = stages.update_concepts_of(store, due, worker_pass.reporter("grouping"))
    for bank in big.intersection(due):
        marks.mkdir(mode=0o700, exist_ok=True)
        mark_time(marks / bank, worker_pass.now())
    # The texts of concepts get vectors, too.
    worker_pass.run_again = worker_pass.run_again or bool(changed)
    return f"brought up to date: {counted(changed, 'concept')}" if changed else ""


def _is_due(worker_pass: WorkerPass, bank: str, share: float) -> bool:
    """Whether it is time to build the concepts of a large bank again."""
    store, now, mark = worker_pass.memory.store, worker_pass.now(), worker_pass.paths.grouping_marks
    if not is_old(mark / bank, _GROUPING_S, now):
        return False
    if is_old(mark / bank, _LONGEST_GROUPING_S, now):
        return True
    enough = math.ceil(share * store.records.counts(bank, with_turns=False).sessions)
    stage, version = stages.CONCEPTS.name, stages.CONCEPTS.version_with(worker_pass.settings)
    return len(store.progress.unseen_changes(bank, stage, version, enough)) >= enough


def _mark_vectors_checked(settings: Settings, now: str) -> None:
    with suppress(OSError):  # then the next pass checks them again
        settings.vectors.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark_time(settings.vectors / _CHECKED, now)


def needs_embedding(reader: Reader, settings: Settings, check_all: bool = True) -> bool:
    """Whether there is a reason to load the embedding model; a damaged vector is one if all are to
    be checked. The full name of a model from the settings is known only after loading: until then
    it is taken to be the model of the stored vectors, if the names agree."""
    if settings.embed_model == NO_MODEL:
        return False
    models = [name for name, _ in reader.vectors.models()]
    name, kinds = packaged.EMBEDDER_NAME, (*EMBEDDED_FIRST, *EMBEDDED_LATER)
    if settings.embed_model or settings.embed_endpoint:
        if len(models) != 1:
            return bool(models) or reader.vectors.count_unembedded("", kinds) > 0
        name = models[0]
        if not _may_be_model_of(name, settings):
            return True
    if any(model != name for model in models):
        return True
    is_waiting = reader.vectors.count_unembedded(name, kinds) > 0
    return is_waiting or (check_all and reader.vectors.has_mixed_sizes(name))


def _may_be_model_of(name: str, settings: Settings) -> bool:
    """Whether the model with this stored name can be the one that the settings name."""
    if settings.embed_endpoint:
        return name.startswith(f"{settings.embed_endpoint_model}@")
    folder = Path(settings.embed_model).expanduser().resolve().name
    return name != packaged.EMBEDDER_NAME and name.rpartition("-")[0] == folder


def push_outbox(worker_pass: WorkerPass) -> str:
    """Send shared records to the servers that could not be reached before."""
    settings = worker_pass.settings
    if settings.remote.use == OFF or not settings.remotes.exists():
        return ""
    from holdfast.app.remote import outbox

    return outbox.push_due(worker_pass.memory.context)


def remove_leftovers(worker_pass: WorkerPass) -> str:
    """Remove the marks of old sessions and half-written files."""
    settings, now = worker_pass.settings, worker_pass.now()
    removed = _remove_old(worker_pass.paths.session_marks, "*", _MARKS_KEPT_S, now)
    removed += _remove_old(worker_pass.paths.grouping_marks, "*", _MARKS_KEPT_S, now)
    removed += _remove_old(settings.vectors, ".*.vectors.*", _LEFTOVERS_KEPT_S, now)
    removed += _remove_old(settings.home / "backups", ".*.part", _LEFTOVERS_KEPT_S, now)
    return f"{removed} old files removed" if removed else ""


def _remove_old(folder: Path, pattern: str, kept_s: float, now: str) -> int:
    removed = 0
    for path in folder.glob(pattern) if folder.is_dir() else ():
        with suppress(OSError):
            if path.is_file() and age_s(path.stat(), now) > kept_s:
                path.unlink()
                removed += 1
    return removed


# In order: what hooks and transcripts bring, what is derived from it, then what may take long. The
# names are stored with failures and shown to users.
STEPS = (
    Step("drain", drain, runs_without_memory=True),
    Step("ingest", ingest),
    Step("history", read_git_history),
    Step("reconcile", reconcile),
    Step("derive", derive),
    Step("summarise", summarise),
    Step("extract", extract),
    Step("settle", record_injection_outcomes),
    Step("know", update_knowledge),
    Step("overwrite", finish_erasure),
    Step("brief", write_briefs),
    Step("push", push_outbox),
    Step("embed", embed),
    Step("group", group_concepts),
    Step("tidy", remove_leftovers, runs_without_memory=True),
)
