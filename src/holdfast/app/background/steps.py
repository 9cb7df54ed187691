"""The steps of a pass, in their order. A new kind of background work is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, time

from holdfast.app.background.step_runner import Step, TimeUpError, WorkerPass
from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.curation.erasure import remove_derived_files
from holdfast.app.ingest import stages
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.brief.injection_outcomes import settle_injections
from holdfast.capture.inbox import make_inbox
from holdfast.errors import HoldfastError
from holdfast.inference import packaged
from holdfast.learn.erasure import is_unfinished, overwrite_erased
from holdfast.model.injections import Injection
from holdfast.refine.core.banks import Banks
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.refine.hooks import drain as events
from holdfast.refine.hooks import journal_cleanup
from holdfast.refine.hooks import reconcile as reconciling
from holdfast.refine.hooks.drain import InjectionNote
from holdfast.refine.sessions.derive import derive_stale
from holdfast.settings import NO_MODEL, OFF, Settings
from holdfast.store.protocol import Reader

MARKS_KEPT_S = 30 * 86400.0
LEFTOVERS_KEPT_S = 86400.0
TURNS_S = 20.0
SUMS_S = 60.0


def drain(worker_pass: WorkerPass) -> str:
    """Take up what hooks left: into journals, with the secrets out, and out of memory."""
    if worker_pass.paths.inbox_pointer.exists():
        make_inbox(worker_pass.paths)
    banks = Banks(worker_pass.settings)
    done = events.drain(worker_pass.paths, banks, exclusion_rules(worker_pass.settings), worker_pass.now, _keeper(worker_pass))
    for problem in done.problems:
        worker_pass.log.write(f"an event cannot be kept: {problem}")
    for news in done.sessions.values():
        worker_pass.sessions.add(news.session)
        if news.transcript:
            worker_pass.transcripts.add(Path(news.transcript))
    if done.problems:
        raise HoldfastError(f"Events cannot be kept: {done.problems[0]}.", "Make room for them.")
    failed = f", {done.failed} of them cut short" if done.failed else ""
    return f"{done.events} events{failed}" if done.events else ""


def _keeper(worker_pass: WorkerPass) -> Callable[[Sequence[InjectionNote]], bool]:
    """Notes what hooks put into sessions, where there is a memory to note it in."""

    def keep(notes: Sequence[InjectionNote]) -> bool:
        if worker_pass.open_memory is None:
            return False
        store, banks = worker_pass.memory.store, worker_pass.memory.context.bank_maker
        with store.transaction():
            for n in notes:
                bank = banks.ensure(store, n.cwd) if n.cwd else ""
                store.add_injection(
                    Injection(n.id, bank, n.session, n.time, n.kind, n.characters, n.records)
                )
        return True

    return keep


def reconcile(worker_pass: WorkerPass) -> str:
    """Read of settled sessions what their transcripts lack."""
    memory = worker_pass.memory
    rules = exclusion_rules(worker_pass.settings)
    done = reconciling.reconcile(
        memory.store, memory.context.bank_maker, worker_pass.paths, rules, worker_pass.now
    )
    for source in done.transcripts.gone:
        worker_pass.log.write(f"gone: {source.path} ({source.lines} lines of it are kept)")
    read, old = done.journals, journal_cleanup.remove_old_journals(memory.store, worker_pass.paths)
    told = [f"{read.captured} of {read.lines} events were in no transcript"] * bool(read.files_read)
    told += [f"{old} old journals put away"] * bool(old)
    return "; ".join(told)


def ingest(worker_pass: WorkerPass) -> str:
    """Read the transcripts of sessions that had events, then a portion of all the rest."""
    inputs = worker_pass.queue.for_sessions(worker_pass.sessions, worker_pass.transcripts)
    if worker_pass.queue.scan_is_due():
        problems: list[str] = []
        worker_pass.queue.scan(worker_pass.memory.reader, problems)
        for problem in problems:
            worker_pass.log.write(f"left out: {problem}")
    known = {item.path for item in inputs}
    inputs += [item for item in worker_pass.queue.take_batch() if item.path not in known]
    account = worker_pass.memory.ingestion.ingest(
        inputs,
        workers=1,
        on_progress=lambda done, total: worker_pass.on_progress("reading", done, total),
        then_know=False,
    )
    for source in account.gone:
        worker_pass.log.write(f"gone: {source.path} ({source.lines} lines of it are kept)")
    worker_pass.queue.mark_batch_read()
    worker_pass.transcripts_read = True
    worker_pass.run_again = worker_pass.run_again or worker_pass.queue.has_more
    told = f"{account.lines} lines of {account.files_read} files" if account.files_read else ""
    gone = f"{len(account.gone)} files are gone from disk" if account.gone else ""
    return "; ".join(filter(None, (told, gone)))


def history(worker_pass: WorkerPass) -> str:
    """Read on in the histories of repositories that the user had read, where they moved."""
    known = worker_pass.memory.reader.repositories() if worker_pass.settings.git_read else []
    if not known:
        return ""
    from holdfast.app.background import git_follow

    return git_follow.follow_histories(worker_pass, known)


def derive(worker_pass: WorkerPass) -> str:
    """Bring sessions up to date that someone left half-way."""
    done = derive_stale(worker_pass.memory.store, lambda: worker_pass.on_progress("deriving", 0, 0))
    return f"{done} sessions" if done else ""


def summarise(worker_pass: WorkerPass) -> str:
    """Let a model sum up what rules have, if the settings name one."""
    if worker_pass.settings.models.use == NO_MODEL:
        return ""
    from holdfast.app.background import model_summaries

    done = model_summaries.summarise(
        worker_pass.memory, worker_pass.paths, worker_pass.now, lambda: worker_pass.on_progress("summing up", 0, 0)
    )
    told = [f"{done.exchanges} exchanges, {done.digests} sessions"] * bool(
        done.exchanges or done.digests
    )
    told += [f"{done.failed} came to nothing"] * bool(done.failed)
    told += [f"stopped: {done.stopped}"] * bool(done.stopped)
    return "; ".join(told)


def extract(worker_pass: WorkerPass) -> str:
    """Let a model extract memories, if the settings name one for that."""
    models = worker_pass.settings.models
    if models.use == NO_MODEL or not models.extraction:
        return ""
    from holdfast.app.curation import model_reflection

    done = model_reflection.extract_with_model(
        worker_pass.memory.store,
        worker_pass.settings,
        worker_pass.paths,
        worker_pass.now,
        lambda: worker_pass.on_progress("extracting", 0, 0),
    )
    told = [f"memories of {done.exchanges} exchanges"] * bool(done.exchanges)
    told += [f"{done.failed} came to nothing"] * bool(done.failed)
    told += [f"stopped: {done.stopped}"] * bool(done.stopped)
    return "; ".join(told)


def know(worker_pass: WorkerPass) -> str:
    """Work out what is known above the session, where something under it has changed."""
    store = worker_pass.memory.store
    kept: list[str] = []
    for bank in store.banks():
        if bank.retention:
            from holdfast.learn import bank_settings

            gone, back = bank_settings.apply_retention(store, bank, worker_pass.now)
            worker_pass.run_again = worker_pass.run_again or bool(gone or back)
            kept += [f"{gone} sessions of {bank.name} put away by its retention"] * bool(gone)
            kept += [f"{back} sessions of {bank.name} brought back"] * bool(back)
    for line in kept:
        worker_pass.log.write(line)

    def tick() -> None:
        worker_pass.on_progress("knowing", 0, 0)

    done = stages.update_stages(store, worker_pass.now, tick)
    proposed = worker_pass.memory.rules.sync_all(tick)
    told = [f"{count} {name}" for name, count in done.items() if count]
    return ", ".join([*kept, *told, *([f"{proposed} rules proposed"] if proposed else [])])


def advise(worker_pass: WorkerPass) -> str:
    """Let a model say a word on what people should decide, if the settings name one."""
    open_ones = [r for r in worker_pass.memory.browse.reviews(ALL_BANKS) if not r.advice]
    if worker_pass.settings.models.use == NO_MODEL or not open_ones:
        return ""
    from holdfast.app.background import model_advice

    done = model_advice.advise_reviews(
        worker_pass.memory, worker_pass.now, lambda: worker_pass.on_progress("asking for advice", 0, 0)
    )
    return f"advice on {done} questions" if done else ""


def settle(worker_pass: WorkerPass) -> str:
    """Tell what became of what hooks put into sessions that are over."""
    done = settle_injections(worker_pass.memory.store, worker_pass.now())
    return f"{done.settled} injections" if done.settled else ""


def brief(worker_pass: WorkerPass) -> str:
    """Prepare what the next sessions are told, so that their hooks only have to read it."""
    written = prepare_briefs(worker_pass.settings, worker_pass.now)
    return f"{len(written)} banks" if written else ""


def overwrite(worker_pass: WorkerPass) -> str:
    """Finish an erasure that was broken off."""
    if not is_unfinished(worker_pass.memory.store):
        return ""
    overwrite_erased(worker_pass.memory.store)
    remove_derived_files(worker_pass.settings)
    return "what was erased is in no file any more"


def embed(worker_pass: WorkerPass) -> str:
    """Give vectors to what waits for them, to commits and turns for a while only."""
    if not needs_embedding(worker_pass.memory.reader, worker_pass.settings):
        return ""
    until = monotonic() + SUMS_S
    reached = 0

    def tick(done: int, total: int) -> None:
        nonlocal reached
        reached = done
        worker_pass.on_progress("embedding", done, total)
        if monotonic() > until:
            raise TimeUpError

    try:
        left = worker_pass.memory.ingestion.embed(TURNS_S, tick, threads=1)
    except TimeUpError:
        left = 1
    worker_pass.run_again = worker_pass.run_again or bool(left and reached)
    return f"{reached} passages got vectors{'; more wait' if left else ''}"


def needs_embedding(reader: Reader, settings: Settings) -> bool:
    """Whether it is worth to load the model. The whole name of one that the settings name is only
    known once it is open: until then it is taken for the one whose vectors there are, if that is
    called so."""
    if settings.embed_model == NO_MODEL:
        return False
    models = [name for name, _ in reader.vector_models()]
    name = packaged.EMBEDDER_NAME
    if settings.embed_model or settings.embed_endpoint:
        if len(models) != 1:
            return (
                bool(models) or reader.count_unembedded("", (*EMBEDDED_FIRST, *EMBEDDED_LATER)) > 0
            )
        name = models[0]
        if not _may_be(name, settings):
            return True
    waiting = reader.count_unembedded(name, (*EMBEDDED_FIRST, *EMBEDDED_LATER)) > 0
    return waiting or any(m != name for m in models) or len(reader.vector_sizes(name)) > 1


def _may_be(name: str, settings: Settings) -> bool:
    """Whether vectors of this name can be of the model that the settings name."""
    if settings.embed_endpoint:
        return name.startswith(f"{settings.embed_endpoint_model}@")
    folder = Path(settings.embed_model).expanduser().resolve().name
    return name != packaged.EMBEDDER_NAME and name.rpartition("-")[0] == folder


def push(worker_pass: WorkerPass) -> str:
    """Send what people shared to servers that could not be reached before."""
    settings = worker_pass.settings
    if settings.remote.use == OFF or not settings.remotes.exists():
        return ""
    from holdfast.app.remote import outbox

    return outbox.push_due(worker_pass.memory.context)


def tidy(worker_pass: WorkerPass) -> str:
    """Remove what nobody needs any more: marks of old sessions, files left half-written."""
    removed = _remove_old(worker_pass.paths.session_marks, "*", MARKS_KEPT_S)
    settings = worker_pass.settings
    for folder, left in (
        (settings.vectors, ".*.vectors.*"),
        (settings.home / "backups", ".*.part"),
    ):
        removed += _remove_old(folder, left, LEFTOVERS_KEPT_S)
    return f"{removed} old files removed" if removed else ""


def _remove_old(folder: Path, pattern: str, kept_s: float) -> int:
    removed = 0
    for path in folder.glob(pattern) if folder.is_dir() else ():
        with suppress(OSError):
            if path.is_file() and time() - path.stat().st_mtime > kept_s:
                path.unlink()
                removed += 1
    return removed


STEPS = (
    Step("drain", drain, runs_without_memory=True),
    Step("ingest", ingest),
    Step("history", history),
    Step("reconcile", reconcile),
    Step("derive", derive),
    Step("summarise", summarise),
    Step("extract", extract),
    Step("settle", settle),
    Step("know", know),
    Step("advise", advise),
    Step("overwrite", overwrite),
    Step("brief", brief),
    Step("push", push),
    Step("embed", embed),
    Step("tidy", tidy, runs_without_memory=True),
)
