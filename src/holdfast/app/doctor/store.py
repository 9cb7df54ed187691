"""Checks of the database, the derived records, the ledger, the vectors and the packaged models."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from holdfast.app.core.backends import location_of
from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import FIX, Check, DoctorContext, Grade, check_paths, ok
from holdfast.app.transfer.backup import restore_latest_intact, set_aside_damaged
from holdfast.errors import HoldfastError, StoreCorruptError
from holdfast.inference import packaged
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.inference.service_choice import detect_service, service_problem
from holdfast.recall.retrievers.vector_matrix import is_complete
from holdfast.settings import NO_MODEL, SHIPPED, Settings

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


def check_store(context: DoctorContext) -> list[Check]:
    """Database, derived records, ledger, vectors."""
    if (error := context.open_error) is not None:
        if not isinstance(error, StoreCorruptError) or context.settings.store:
            return [Check("memory", Grade.BROKEN, error.message, error.remedy)]
        return [_damaged(context, error.message)]
    if not context.settings.store and not context.settings.database.exists():
        return [ok("memory", "The memory is empty.")]
    return [*_database(context), _balance(context), _vectors(context), *_vector_search(context)]


def _database(context: DoctorContext) -> list[Check]:
    assert context.memory is not None
    memory = context.memory
    faults = memory.store.check_integrity()
    if faults.damaged:
        return [_damaged(context, f"Damaged: {'; '.join(faults.damaged)}.")]
    whole = ok("memory", f"{location_of(context.settings)} is intact.")
    if not faults.derived:
        return [whole, ok("derived", "Derived records match their sources.")]

    def rebuild() -> str:
        return f"{memory.ingestion.rebuild():,} sessions derived again."

    sentence = f"Derived records do not match their sources: {'; '.join(faults.derived)}."
    question = "Delete all derived records and derive them again? Nothing that was read is lost."
    return [whole, Check("derived", Grade.BROKEN, sentence, "doctor --fix", rebuild, question)]


def _damaged(context: DoctorContext, sentence: str) -> Check:
    """A damaged database. A file is restored from a backup; on a server its operators do that."""
    settings, memory = context.settings, context.memory
    if settings.store:
        return Check("memory", Grade.BROKEN, sentence, "See docs/operations.md, PostgreSQL.")

    def restore() -> str:
        if memory is not None:
            memory.close()
        found = restore_latest_intact(settings)
        if found is None:
            kept = set_aside_damaged(settings)
            return f"Kept as {kept}; `holdfast ingest` reads your sessions again."
        return f"{found.look.path} was restored; the damaged file is kept as {found.aside}."

    return Check("memory", Grade.BROKEN, sentence, _RESTORE_REMEDY, restore, _RESTORE_QUESTION)


def _balance(context: DoctorContext) -> Check:
    assert context.memory is not None
    balance = context.memory.inventory.balance()
    if balance.accounted + balance.pending != balance.lines:
        sentence = f"{balance.lines:,} lines, but {balance.accounted:,} accounted for."
        return Check("ledger", Grade.BROKEN, sentence, "Please report this bug.")
    return ok("ledger", f"All {balance.lines:,} lines are accounted for.")


def _vectors(context: DoctorContext) -> Check:
    files = sorted(context.settings.vectors.glob("*.vectors"))
    check = check_paths(
        "vectors",
        [path for path in files if not is_complete(path)],
        "",
        "Damaged or outdated: {}.",
        lambda path: path.unlink(missing_ok=True),
        "Removed; they are made again when needed.",
    )
    return _stored_vectors(context) if check.grade is Grade.OK else check


def _stored_vectors(context: DoctorContext) -> Check:
    """Vectors in the store whose length differs from the others of their model."""
    assert context.memory is not None
    memory = context.memory
    sizes = [memory.reader.vectors.sizes(model) for model, _ in memory.reader.vectors.models()]
    counts = [[count for _, count in of_model] for of_model in sizes]
    # The most common length of a model is the right one.
    odd = sum(sum(of_model) - max(of_model) for of_model in counts)
    if not odd or context.settings.embed_model == NO_MODEL:
        return ok("vectors", "The stored vectors are intact.")

    def embed() -> str:
        left = memory.ingestion.embed(turns_for=_EMBED_TURNS_S)
        return (
            f"Embedded again; {left:,} passages are still waiting." if left else "Embedded again."
        )

    sentence = f"{odd:,} vectors are damaged; search by meaning ignores them."
    return Check("vectors", Grade.WARNING, sentence, FIX, embed)


def _vector_search(context: DoctorContext) -> list[Check]:
    """Whether a server that could compare vectors does so. A file has no such search."""
    assert context.memory is not None
    memory = context.memory
    problem = memory.reader.vectors.problem()
    if not problem:
        return []

    def try_again() -> str:
        left = memory.store.vectors.try_again()
        return f"It still fails: {left}." if left else "The server compares vectors again."

    sentence = f"{problem[0].upper()}{problem[1:]}. Vectors are compared on this machine instead."
    return [Check("vector search", Grade.WARNING, sentence, _VECTOR_REMEDY, try_again, _TRY_AGAIN)]


def check_models(context: DoctorContext) -> list[Check]:
    """Whether the packaged model files are intact, the models of the settings can be used, and the
    model service that they choose can be asked."""
    return [_check_embedder(context), check_reranker(context.settings), _check_service(context)]


def _check_service(context: DoctorContext) -> Check:
    """No service is contacted: what the last calls showed is in the ledger."""
    name, models = "service", context.settings.models
    if models.use == NO_MODEL:
        return ok(name, "No model service is used; rules summarise sessions.")
    if problem := service_problem(models):
        return Check(name, Grade.BROKEN, problem.message, problem.remedy)
    now = utc_now()
    paused = context.memory.store.model_calls.paused_services() if context.memory else ()
    for pause in paused:
        if pause.since <= now < pause.until:
            sentence = f"{pause.service} failed and is paused until {pause.until[:16]}Z: "
            return Check(
                name, Grade.WARNING, f"{sentence}{pause.problem}", "holdfast status --cost"
            )
    return ok(name, f"{detect_service(models)} is ready.")


def _check_embedder(context: DoctorContext) -> Check:
    hashes = {
        packaged.EMBEDDER: packaged.EMBEDDER_SHA256,
        packaged.TOKENIZER: packaged.TOKENIZER_SHA256,
    }
    for path, expected in hashes.items():
        if _sha256(path) != expected:
            return _not_as_released("model", path)
    model, endpoint = context.settings.embed_model, context.settings.embed_endpoint
    if endpoint or model == NO_MODEL:
        return ok("model", "The embedding model is intact.")
    if model and not Path(model).expanduser().is_dir():
        sentence = f"The configured model does not exist: {model}."
        return Check("model", Grade.BROKEN, sentence, "Correct embed.model in config.toml.")
    files = Path(model).expanduser() if model else packaged.EMBEDDER
    if problem := _embedder_problem(model, _version(files)):
        return Check("model", Grade.BROKEN, *problem)
    return ok("model", "The embedding model is intact.")


def check_reranker(settings: Settings, released: Path = packaged.RERANKER) -> Check:
    """Whether the reranker can be used, where settings name none the `released` one. Without its
    file searches still work, in a worse order, and do not report it."""
    name, model = "reranker", settings.rerank_model
    if model == NO_MODEL:
        return ok(name, "No reranker is used, as rerank.model says.")
    shipped = model in ("", SHIPPED)
    if shipped and _sha256(released) != packaged.RERANKER_SHA256:
        return _not_as_released(name, released)
    file = released if shipped else Path(model).expanduser()
    if problem := _reranker_problem(model, _version(file)):
        return Check(name, Grade.BROKEN, *problem)
    return ok(name, "The reranker is intact.")


def _not_as_released(name: str, path: Path) -> Check:
    sentence = f"{path} is missing or differs from the released file."
    remedy = "Install Holdfast again: pip install --force-reinstall holdfast-memory."
    return Check(name, Grade.BROKEN, sentence, remedy)


Version = tuple[tuple[str, int, int], ...]
Problem = tuple[str, str]


def _version(path: Path) -> Version:
    """What changes when a file, or a file in a folder, is replaced."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [(file, file.stat()) for file in files if file.is_file()]
    return tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found)


@lru_cache(maxsize=2)
def _embedder_problem(model: str, version: Version) -> Problem | None:
    """Why this embedding model cannot be used, and what to do; None if it embeds a text."""
    try:
        embedder = choose_embedder(Settings(Path(), Path(), embed_model=model))
        if embedder is not None:
            embedder.embed(["a text"])
    except HoldfastError as error:
        return error.message, error.remedy
    return None


@lru_cache(maxsize=2)
def _reranker_problem(model: str, version: Version) -> Problem | None:
    """Why this reranker cannot be used, and what to do; None if it scores a pair. Opening it takes
    0.3 s, and ONNX Runtime as long again, so that a server does it once for a version."""
    try:
        reranker = choose_reranker(Settings(Path(), Path(), rerank_model=model))
        if reranker is not None:
            reranker.score("a question", ["a text"])
    except HoldfastError as error:
        return error.message, error.remedy
    return None


def _sha256(path: Path) -> str:
    try:
        found = path.stat()
        return _sha256_of_version(path, found.st_size, found.st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=4)
def _sha256_of_version(path: Path, size: int, changed_ns: int) -> str:
    """The hash of a file that has not changed since. It takes 23 ms for the model, and a server
    runs all checks for each look at its health."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
