"""A memory that is looked into and never changed: what the faces for agents share.

It is given a `ReadStore`, which has no method that writes, on a connection that refuses to.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import ClassVar, Self

from holdfast.app.answers.tool import Object, Tool, check_arguments, find_tool
from holdfast.app.core.context import missing_bank_hint, resolve_bank, utc_now
from holdfast.errors import HoldfastError
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.refine.core.banks import Banks
from holdfast.settings import Settings
from holdfast.store.protocol import Reader, ReadStore


class ReadOnlyMemory:
    """One memory. `bank` is a name, "all", or "" for that of this folder. Whoever looks by tools
    says which there are, and by `ways` what each does."""

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
        self._run = self.handlers()

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        """What each tool does, by its name."""
        return {}

    def tools(self) -> tuple[Tool, ...]:
        """What can be called, with the schemas of what each takes."""
        return self.offered

    def call(self, name: str, arguments: object = None) -> Object:
        """The result of a tool; raises `InputError` where a call is not as offered."""
        tool = find_tool(self.offered, name)
        return self._run[tool.name](check_arguments(tool, arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._reader.close()

    @property
    def reader(self) -> Reader:
        """Everything that is stored, read-only."""
        return self._reader

    def bank(self, name: str = "") -> str | None:
        """The id of the bank that is looked into; None for all, "" for one that is not there."""
        return resolve_bank(self._reader, self._banks, name or self._name)

    def _load_model(self) -> SemanticSearch | None:
        """What models add, loaded when it is first wanted."""
        if self._semantic is None and self._reader.vector_models():
            from holdfast.app.core import models

            try:
                self._semantic = models.load_semantic_search(self._settings)
            except HoldfastError as error:
                self._model_problem = f"{error.message} {error.remedy}".strip()
        return self._semantic

    def _notes(self, bank: str | None, *notes: str) -> Object:
        told = [*([missing_bank_hint(self._reader)] if bank == "" else []), *filter(None, notes)]
        return {"notes": told} if told else {}
