"""Checks of what is asked besides the store: models, the model service, plugins and team servers.
No service or server is contacted and no plugin is started: what the last calls showed is known."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import Check, DoctorContext, Finding, broken, ok, warning
from holdfast.app.remote.remote_search import Remotes
from holdfast.app.search.plugin_search import Providers
from holdfast.app.status.health import current_folder
from holdfast.errors import HoldfastError
from holdfast.inference import packaged
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.inference.service_choice import service_problem
from holdfast.settings import NO_MODEL, OFF, SHIPPED, Settings
from holdfast.store.records.outbox import OutboxState

# Failures in a row that count as a problem: fewer are usual when a server restarts or a laptop is
# offline.
_MIN_FAILURES = 5
_SEE_PROVIDERS = "See docs/providers.md"


def embedder(context: DoctorContext) -> Finding:
    """Whether the packaged model is as it was released, and that of the settings can be used."""
    settings = context.settings
    for path, expected in (
        (packaged.EMBEDDER, packaged.EMBEDDER_SHA256),
        (packaged.TOKENIZER, packaged.TOKENIZER_SHA256),
    ):
        if _sha256(path) != expected:
            yield _not_as_released(path)
            return
    folder = Path(settings.embed_model).expanduser()
    if settings.embed_endpoint or settings.embed_model == NO_MODEL:
        return
    if settings.embed_model and not folder.is_dir():
        sentence = f"The configured model does not exist: {settings.embed_model}."
        yield broken(sentence, "Correct embed.model in config.toml.")
        return
    path = folder if settings.embed_model else packaged.EMBEDDER
    yield from _unusable(path, settings.embed_model, NO_MODEL)


def reranker(context: DoctorContext, released: Path = packaged.RERANKER) -> Finding:
    """Whether the reranker can be used, where settings name none the `released` one. Without its
    file searches still work, in a worse order, and do not report it."""
    model = context.settings.rerank_model
    if model == NO_MODEL:
        yield ok("No reranker is used, as rerank.model says.")
        return
    shipped = model in ("", SHIPPED)
    if shipped and _sha256(released) != packaged.RERANKER_SHA256:
        yield _not_as_released(released)
        return
    path = released if shipped else Path(model).expanduser()
    yield from _unusable(path, NO_MODEL, model)


def _not_as_released(path: Path) -> Check:
    sentence = f"{path} is missing or differs from the released file."
    remedy = "Install Holdfast again: pip install --force-reinstall holdfast-memory."
    return broken(sentence, remedy)


def _unusable(path: Path, embedding: str, reranking: str) -> Finding:
    """The problem of the model at this path. A model is opened once for each version of it."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [(file, file.stat()) for file in files if file.is_file()]
    version = tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found)
    if problem := _try(embedding, reranking, version):
        yield broken(*problem)


@lru_cache(maxsize=4)
def _try(
    embedding: str, reranking: str, version: tuple[tuple[str, int, int], ...]
) -> tuple[str, str] | None:
    """Why these models cannot be used, and what to do; None if they work. Opening one takes 0.3 s,
    and ONNX Runtime as long again."""
    settings = Settings(Path(), Path(), embed_model=embedding, rerank_model=reranking)
    try:
        if embedder := choose_embedder(settings):
            embedder.embed(["a text"])
        if reranker := choose_reranker(settings):
            reranker.score("a question", ["a text"])
    except HoldfastError as error:
        return error.message, error.remedy
    return None


def _sha256(path: Path) -> str:
    """The hash of a file, "" if there is none; 23 ms for the largest."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def service(context: DoctorContext) -> Finding:
    """Whether the model service of the settings can be asked."""
    models, now = context.settings.models, utc_now()
    if models.use == NO_MODEL:
        yield ok("No model service is used; rules summarise sessions.")
    elif problem := service_problem(models):
        yield broken(problem.message, problem.remedy)
    else:
        for pause in context.memory.store.model_calls.paused_services() if context.memory else ():
            if pause.since <= now < pause.until:
                sentence = f"{pause.service} failed and is paused until {pause.until[:16]}Z: "
                yield warning(f"{sentence}{pause.problem}", "holdfast status --cost")


def providers(context: DoctorContext) -> Finding:
    """Plugins that cannot be used, or that failed."""
    if context.settings.providers.use == OFF:
        yield ok("Plugins are not queried.")
        return
    found = Providers(context.settings, utc_now, current_folder())
    for item in found.listed():
        name, reliability = item.provider.name, item.reliability
        if item.provider.problem:
            sentence = f"{name} cannot be used: {item.provider.problem}."
            yield warning(sentence, _SEE_PROVIDERS)
        elif item.is_paused or reliability.failures:
            rest = f"; paused until {reliability.resting_until[:16]}Z" if item.is_paused else ""
            sentence = f"{name} failed {reliability.failures} times: {reliability.problem}{rest}."
            yield warning(sentence, f"holdfast providers test {name} QUERY")
    for problem in found.problems:
        yield warning(problem, _SEE_PROVIDERS)


def remotes(context: DoctorContext) -> Finding:
    """Team servers that failed, and what could not be sent to them."""
    settings = context.settings
    if not settings.remotes.exists():
        yield ok("No team server is configured.")
        return
    for item in Remotes(settings, utc_now).listed():
        name, reliability = item.remote.name, item.reliability
        if reliability.failures >= _MIN_FAILURES:
            sentence = f"{name} failed {reliability.failures} times: {reliability.problem}."
            yield warning(sentence, f"holdfast remote test {name}")
        yield from _unsent(context, name)


def _unsent(context: DoctorContext, name: str) -> Finding:
    """What the server refused, and what repeatedly could not be sent."""
    items = context.memory.reader.outbox.items(name) if context.memory is not None else []
    refused = [one for one in items if one.state is OutboxState.REFUSED]
    waiting = [one for one in items if one.state is OutboxState.WAITING]
    often = [one for one in waiting if one.attempts >= _MIN_FAILURES]
    if refused:
        sentence = f"{name} refused {len(refused)} of your shared records: {refused[0].problem}."
        yield warning(sentence, f"holdfast share --list --to {name}")
    if often:
        problem = f"could not be sent to {name}: {often[0].problem}."
        yield warning(
            f"{len(often)} of your shared records {problem}", f"holdfast remote push {name}"
        )
