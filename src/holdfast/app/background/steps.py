"""The steps of a pass of the worker. `STEPS`, at the end, lists them in their order.

Each takes the worker, does what there is to do and returns a short text on it for people ("" for
nothing). It finds its work in the store or the home, so that it can be killed at any time and run
again. One that may take long calls `worker.on_progress`, which stops it when the worker must exit.
Steps that need a model or git import it only when there is such work, which keeps the usual pass
fast to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

from holdfast.app.background.runner import Step, TimeUpError, Worker
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
# the larger it is. So it is not done after every session.
LARGE_BANK = 3000
_GROUPING_S = 6 * 3600.0


def join_texts(*texts: object) -> str:
    """The texts that are not empty, as one line for people."""
    return "; ".join(str(text) for text in texts if text)


def drain(worker: Worker) -> str:
    """Move hook events from the inbox to journals, with secrets redacted."""
    if worker.paths.inbox_pointer.exists():
        make_inbox(worker.paths)

    def record_injections(notes: Sequence[InjectionNote]) -> bool:
        """Returns False if the memory is not open, and the notes are then kept for later."""
        if worker.open_memory is None:
            return False
        store, banks = worker.memory.store, worker.memory.context.bank_maker
        with store.transaction():
            for note in notes:
                bank = banks.ensure(store, note.cwd) if note.cwd else ""
                about = note.session, note.time, note.kind, note.characters, note.records
                store.injections.add(Injection(note.id, bank, *about))
        return True

    settings = worker.settings
    banks, rules = Banks(settings), exclusion_rules(settings)
    done = events.drain(worker.paths, banks, rules, worker.now, record_injections)
    for problem in done.problems:
        worker.log.write(f"an event cannot be kept: {problem}")
    for activity in done.sessions.values():
        worker.sessions.add(activity.session)
        if activity.transcript:
            worker.transcripts.add(Path(activity.transcript))
    if done.problems:
        raise HoldfastError(
            f"Events cannot be stored: {done.problems[0]}.", "Free some disk space."
        )
    failed = f", {done.failed} of them cut short" if done.failed else ""
    return f"{done.events} events{failed}" if done.events else ""


def ingest(worker: Worker) -> str:
    """Read the transcripts of sessions with events, then a batch of all others that changed."""
    queue = worker.queue
    inputs = queue.for_sessions(worker.sessions, worker.transcripts)
    if queue.scan_is_due():
        for problem in queue.scan(worker.memory.reader):
            worker.log.write(f"left out: {problem}")
    known = {item.path for item in inputs}
    inputs += [item for item in queue.take_batch() if item.path not in known]
    report = worker.memory.ingestion.ingest(
        inputs, on_progress=partial(worker.on_progress, "reading"), then_know=False
    )
    _log_gone(worker, report.gone)
    queue.mark_batch_read()
    worker.transcripts_read = True
    worker.run_again = worker.run_again or queue.has_more
    files = counted(report.files_read, "file")
    return join_texts(
        report.files_read and f"{counted(report.lines, 'line')} of {files}",
        report.gone and f"{counted(len(report.gone), 'file')} gone from disk",
    )


def _log_gone(worker: Worker, sources: Iterable[Source]) -> None:
    for source in sources:
        worker.log.write(f"gone: {source.path} ({counted(source.lines, 'line')} of it are kept)")


def read_git_history(worker: Worker) -> str:
    """Read the new commits of repositories, and the histories of those that sessions work in."""
    reader = worker.memory.reader
    of_sessions = worker.settings.git_sessions and reader.sessions.latest(None, 1)
    if not (of_sessions or reader.git.repositories()):
        return ""
    from holdfast.app.background import git_follow

    return git_follow.follow_histories(worker)


def reconcile(worker: Worker) -> str:
    """Read the transcripts that journals name, and for sessions that have ended the events of the
    journal that the transcripts lack."""
    memory, paths, now = worker.memory, worker.paths, worker.now
    rules = exclusion_rules(worker.settings)
    done = reconciling.reconcile(memory.store, memory.context.bank_maker, paths, rules, now)
    _log_gone(worker, done.transcripts.gone)
    read, old = done.journals, reconciling.remove_old_journals(memory.store, paths, now())
    return join_texts(
        read.files_read and f"{read.captured} of {read.lines} events were in no transcript",
        old and f"{counted(old, 'old journal')} removed",
    )


def derive(worker: Worker) -> str:
    """Derive the sessions whose derivation was interrupted."""
    done = derive_stale(worker.memory.store, worker.reporter("deriving"))
    return counted(done, "session") if done else ""


def summarise(worker: Worker) -> str:
    """Let a model summarise exchanges and sessions, as far as the caps allow."""
    from holdfast.app.background import model_tasks

    done = model_tasks.summarise(worker.memory, worker.reporter("summing up"))
    both = f"{counted(done.exchanges, 'exchange')}, {counted(done.digests, 'session')}"
    return _report(both if done.exchanges + done.digests else "", done.failed, done.stopped)


def extract(worker: Worker) -> str:
    """Let a model extract memories, as far as the caps allow."""
    from holdfast.app.background import model_tasks

    done = model_tasks.extract_memories(worker.memory, worker.reporter("extracting"))
    of = f"memories of {counted(done.exchanges, 'exchange')}" if done.exchanges else ""
    return _report(of, done.failed, done.stopped)


def _report(made: str, failed: int, stopped: str) -> str:
    return join_texts(
        made, failed and f"{failed} came to nothing", stopped and f"stopped: {stopped}"
    )


def record_injection_outcomes(worker: Worker) -> str:
    """Record whether the context injected into sessions that have ended was used."""
    done = settle_injections(worker.memory.store, worker.now())
    return f"{done.settled} injections" if done.settled else ""


def update_knowledge(worker: Worker) -> str:
    """Apply the retention of banks, and update facts, memories, concepts and rules from what has
    changed."""
    store, changed = worker.memory.store, list[str]()
    for bank in store.banks.all():
        if bank.retention:
            from holdfast.learn import bank_settings

            gone, back = bank_settings.apply_retention(store, bank, worker.now)
            for count, what in ((gone, "hidden by its retention"), (back, "shown again")):
                if count:
                    worker.run_again = True
                    changed.append(f"{counted(count, 'session')} of {bank.name} {what}")
                    worker.log.write(changed[-1])
    on_progress = worker.reporter("knowing")
    among = [stage for stage in stages.STAGES if stage is not stages.CONCEPTS]
    done = stages.update_stages(store, worker.settings, worker.now, on_progress, among)
    proposed = worker.memory.rules.sync_all(on_progress, among)
    updated = ", ".join(stage.makes for stage in among if done.get(stage.name))
    return join_texts(
        *changed,
        updated and f"brought up to date: {updated}",
        proposed and f"rules proposed: {proposed}",
    )


def finish_erasure(worker: Worker) -> str:
    """Finish an erasure that was interrupted."""
    overwrite_erased(worker.memory.store)
    remove_derived_files(worker.settings)
    return "erased text was removed from all files"


def write_briefs(worker: Worker) -> str:
    """Write the briefs of the next sessions, so that hooks only have to read a file."""
    written = prepare_briefs(worker.settings, worker.now)
    return counted(len(written), "bank") if written else ""


def push_outbox(worker: Worker) -> str:
    """Send shared records to the servers that could not be reached before."""
    from holdfast.app.remote import outbox

    return outbox.push_due(worker.memory.context)


def embed(worker: Worker) -> str:
    """Embed the passages that have no vector yet, within the time limits of a pass. Once a day, all
    stored vectors are checked too."""
    settings, now = worker.settings, worker.now()
    check_all = is_old(settings.vectors / _CHECKED, _VECTORS_CHECKED_S, now)
    if not needs_embedding(worker.memory.reader, settings, check_all):
        return ""
    until = monotonic() + _EMBED_ALL_S
    reached = 0

    def on_progress(done: int, total: int) -> None:
        nonlocal reached
        reached = done
        worker.on_progress("embedding", done, total)
        if monotonic() > until:
            raise TimeUpError

    try:
        left = worker.memory.ingestion.embed(
            _EMBED_TURNS_S, on_progress, threads=1, then_group=False, check_all=check_all
        )
    except TimeUpError:
        left = 1
    if check_all and not left:
        with suppress(OSError):  # then the next pass checks them again
            settings.vectors.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark_time(settings.vectors / _CHECKED, now)
    worker.run_again = worker.run_again or bool(left and reached)
    return f"{counted(reached, 'passage')} got vectors{'; more wait' if left else ''}"


def needs_embedding(reader: Reader, settings: Settings, check_all: bool = True) -> bool:
    """Whether there is a reason to load the embedding model; a damaged vector is one if all are to
    be checked. The full name of a model from the settings is known only after loading: until then
    it is taken to be the model of the stored vectors, if the names agree."""
    if settings.embed_model == NO_MODEL:
        return False
    stored = [name for name, _ in reader.vectors.models()]
    if len(stored) > 1 or not all(_is_chosen(name, settings) for name in stored):
        return True
    name = stored[0] if stored else ""
    if reader.vectors.count_unembedded(name, (*EMBEDDED_FIRST, *EMBEDDED_LATER)):
        return True
    return bool(name) and check_all and reader.vectors.has_mixed_sizes(name)


def _is_chosen(name: str, settings: Settings) -> bool:
    """Whether the model with this stored name can be the one that the settings name."""
    if settings.embed_endpoint:
        return name.startswith(f"{settings.embed_endpoint_model}@")
    if not settings.embed_model:
        return name == packaged.EMBEDDER_NAME
    folder = Path(settings.embed_model).expanduser().resolve().name
    return name != packaged.EMBEDDER_NAME and name.rpartition("-")[0] == folder


def group_concepts(worker: Worker, large: int = LARGE_BANK) -> str:
    """Build the concepts of the banks that changed, now that there are vectors and nothing else
    waits. All of a bank are built anew; in a bank with `large` passages, every few hours."""
    store, marks, now = worker.memory.store, worker.paths.grouping_marks, worker.now()
    behind = () if worker.run_again else stages.CONCEPTS.banks_behind(store, worker.settings)
    big = {bank for bank in behind if store.passages.count(bank, large) >= large}
    due = [bank for bank in behind if bank not in big or is_old(marks / bank, _GROUPING_S, now)]
    if not due:
        return ""
    changed = stages.update_concepts_of(store, due, worker.reporter("grouping"))
    for bank in big.intersection(due):
        marks.mkdir(mode=0o700, exist_ok=True)
        mark_time(marks / bank, now)
    # The texts of concepts get vectors, too.
    worker.run_again = worker.run_again or bool(changed)
    return f"brought up to date: {counted(changed, 'concept')}" if changed else ""


def remove_leftovers(worker: Worker) -> str:
    """Remove the marks of old sessions and half-written files."""
    home, removed = worker.paths, 0
    for folder, pattern, kept_s in (
        (home.session_marks, "*", _MARKS_KEPT_S),
        (home.grouping_marks, "*", _MARKS_KEPT_S),
        (worker.settings.vectors, ".*.vectors.*", _LEFTOVERS_KEPT_S),
        (home.backups, ".*.part", _LEFTOVERS_KEPT_S),
    ):
        for path in folder.glob(pattern) if folder.is_dir() else ():
            with suppress(OSError):
                if path.is_file() and age_s(path.stat(), worker.now()) > kept_s:
                    path.unlink()
                    removed += 1
    return f"{removed} old files removed" if removed else ""


# In order: what hooks and transcripts bring, what is derived from it, then what may take long. The
# names are stored with failures and shown to users.
STEPS = (
    Step("drain", drain, runs_without_memory=True),
    Step("ingest", ingest),
    Step("history", read_git_history, is_due=lambda worker: worker.settings.git_read),
    Step("reconcile", reconcile),
    Step("derive", derive),
    Step("summarise", summarise, is_due=lambda worker: worker.settings.models.use != NO_MODEL),
    Step(
        "extract",
        extract,
        is_due=lambda worker: (
            worker.settings.models.use != NO_MODEL and worker.settings.models.extraction
        ),
    ),
    Step("settle", record_injection_outcomes),
    Step("know", update_knowledge),
    Step("overwrite", finish_erasure, is_due=lambda worker: is_unfinished(worker.memory.store)),
    Step("brief", write_briefs),
    Step(
        "push",
        push_outbox,
        is_due=lambda w: w.settings.remote.use != OFF and w.settings.remotes.exists(),
    ),
    Step("embed", embed),
    Step("group", group_concepts),
    Step("tidy", remove_leftovers, runs_without_memory=True),
)
