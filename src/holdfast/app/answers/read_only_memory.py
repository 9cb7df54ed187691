"""`ReadOnlyMemory`: a memory behind tools for agents, which can be read and not changed.

It is given a `ReadStore`, which has no method that writes, on a connection that refuses to write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self

from holdfast.app.answers.tool import Object, Tool, check_arguments, find_tool
from holdfast.app.core.backends import open_read_only
from holdfast.app.core.context import missing_bank_hint, resolve_bank, utc_now
from holdfast.errors import HoldfastError
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.refine.core.banks import Banks
from holdfast.settings import Settings, load_settings
from holdfast.store.protocol import Reader, ReadStore


class ReadOnlyMemory:
    """One memory. `bank` is a name, "all", or "" for the project of the working directory. A
    subclass lists its tools in `offered` and implements them in `handlers`."""

    offered: ClassVar[tuple[Tool, ...]] = ()

    def __init__(
        self,
        reader: ReadStore,
        settings: Settings,
        bank: str = "",
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._reader = reader
        self._settings = settings
        self._name = bank or settings.bank
        self._now = now
        self._banks = Banks(settings)
        self._semantic: SemanticSearch | None = None
        self._model_problem = ""
        self._handlers = self.handlers()

    @classmethod
    def open(cls, settings: Settings | None = None, bank: str = "") -> Self:
        """Open the memory of this user, or of the given settings."""
        settings = settings or load_settings()
        return cls(open_read_only(settings), settings, bank)

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        """The function that runs each tool, by the tool's name."""
        return {}

    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called, with their input schemas."""
        return self.offered

    def call(self, name: str, arguments: object = None) -> Object:
        """Call a tool; raises `InputError` if the arguments do not fit its schema."""
        tool = find_tool(self.offered, name)
        return self._handlers[tool.name](check_arguments(tool, arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._reader.close()

    @property
    def reader(self) -> Reader:
        """The store."""
        return self._reader

    def bank(self, name: str = "") -> str | None:
        """The id of a bank, by default of this memory's; None means all, "" a project without."""
        return resolve_bank(self._reader, self._banks, name or self._name)

    def _load_model(self) -> SemanticSearch | None:
        """Semantic search, loaded on first use; None if nothing is embedded, or if loading failed,
        which `_model_problem` describes."""
        if self._semantic is None and self._reader.vectors.models():
            from holdfast.app.core import models

            try:
                self._semantic = models.load_semantic_search(self._settings)
            except HoldfastError as error:
                self._model_problem = error.full_text
        return self._semantic

    def _notes(self, bank: str | None, *notes: str) -> Object:
        """The notes of a result, with a hint if there is no bank; {} if there are none."""
        hint = missing_bank_hint(self._reader) if bank == "" else ""
        given = [note for note in (hint, *notes) if note]
        return {"notes": given} if given else {}
