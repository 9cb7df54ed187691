"""Checks of the database: its integrity, the derived records, the ledger and the vectors."""

from __future__ import annotations

from holdfast.app.doctor.check import FIX, DoctorContext, Finding, bad_files, broken, ok, warning
from holdfast.app.transfer.backup import restore_latest_intact, set_aside_damaged
from holdfast.errors import StoreCorruptError
from holdfast.recall.retrievers.vector_matrix import is_complete
from holdfast.settings import NO_MODEL

_RESTORE_REMEDY = (
    "holdfast doctor --fix restores the latest intact backup, and keeps the damaged file."
)
_RESTORE_QUESTION = (
    "Restore the latest intact backup, or start with an empty memory if there is none? The damaged "
    "file is kept, and transcripts on disk are read again; decisions since the backup are lost."
)
_VECTOR_REMEDY = (
    "Install a build of pgvector for the server's CPU (docs/postgres.md), then run "
    "`holdfast doctor --fix`, which tries it again."
)
_TRY_AGAIN = (
    "Is pgvector repaired on the server? It is tried once. If it still crashes the server, all "
    "connections are lost, and the server restarts."
)
# Seconds that a fix may spend on embedding turns again; the worker embeds the rest.
_EMBED_TURNS_S = 60.0


def memory(context: DoctorContext) -> Finding:
    """Whether the memory can be opened and its database is whole; one that is not is not looked at
    any further."""
    settings, error = context.settings, context.open_error
    if isinstance(error, StoreCorruptError) and not settings.store:
        yield from _damaged(context, error.message)
    elif error is not None:
        yield broken(error.message, error.remedy)
    elif not settings.store and not settings.database.exists():
        yield ok("The memory is empty.")
    elif context.memory is not None:
        faults = context.memory.store.check_integrity()
        context.derived_faults = faults.derived
        if faults.damaged:
            yield from _damaged(context, f"Damaged: {'; '.join(faults.damaged)}.")


def _damaged(context: DoctorContext, sentence: str) -> Finding:
    """A file is restored from a backup; on a server its operators do that."""
    settings, opened, context.memory = context.settings, context.memory, None

    def restore() -> str:
        restored, kept = restore_latest_intact(settings)
        if restored:
            return f"{restored} was restored; the damaged file is kept as {kept}."
        kept = set_aside_damaged(settings)
        return f"Kept as {kept}; `holdfast ingest` reads your sessions again."

    if opened is not None:
        opened.close()
    if settings.store:
        yield broken(sentence, "See docs/operations.md, PostgreSQL.")
    else:
        yield broken(sentence, _RESTORE_REMEDY, restore, _RESTORE_QUESTION)


def derived(context: DoctorContext) -> Finding:
    """Derived records that do not belong to their sources."""
    opened, faults = context.memory, context.derived_faults
    if opened is None or not faults:
        return

    def rebuild() -> str:
        return f"{opened.ingestion.rebuild():,} sessions derived again."

    sentence = f"Derived records do not match their sources: {'; '.join(faults)}."
    question = "Delete all derived records and derive them again? Nothing that was read is lost."
    yield broken(sentence, FIX, rebuild, question)


def ledger(context: DoctorContext) -> Finding:
    """Whether every input line is accounted for."""
    if context.memory is None:
        return
    balance = context.memory.inventory.balance()
    if balance.accounted + balance.pending != balance.lines:
        sentence = f"{balance.lines:,} lines, but {balance.accounted:,} accounted for."
        yield broken(sentence, "Please report this bug.")


def vectors(context: DoctorContext) -> Finding:
    """Files of vectors that are damaged, and vectors in the store whose length differs from the
    others of their model."""
    opened, files = context.memory, sorted(context.settings.vectors.glob("*.vectors"))
    yield from bad_files(
        [path for path in files if not is_complete(path)],
        "Damaged or outdated: {}.",
        lambda path: path.unlink(missing_ok=True),
        "Removed; they are made again when needed.",
    )
    if opened is None or context.settings.embed_model == NO_MODEL:
        return

    def embed() -> str:
        left = opened.ingestion.embed(turns_for=_EMBED_TURNS_S)
        return (
            f"Embedded again; {left:,} passages are still waiting." if left else "Embedded again."
        )

    stored = opened.reader.vectors
    counts = [[count for _, count in stored.sizes(model)] for model, _ in stored.models()]
    # The most common length of a model is the right one.
    if odd := sum(sum(of_model) - max(of_model) for of_model in counts):
        sentence = f"{odd:,} vectors are damaged; search by meaning ignores them."
        yield warning(sentence, FIX, embed)


def vector_search(context: DoctorContext) -> Finding:
    """Whether a server that could compare vectors does so. A file has no such search."""
    opened = context.memory
    problem = opened.reader.vectors.problem() if opened else ""
    if opened is None or not problem:
        return

    def try_again() -> str:
        left = opened.store.vectors.try_again()
        return f"It still fails: {left}." if left else "The server compares vectors again."

    sentence = f"{problem[0].upper()}{problem[1:]}. Vectors are compared on this machine instead."
    yield warning(sentence, _VECTOR_REMEDY, try_again, _TRY_AGAIN)
