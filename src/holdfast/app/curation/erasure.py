"""Erasing for good: a record with all that is derived from it, or a text wherever it occurs."""

from __future__ import annotations

from contextlib import suppress

from holdfast.app.core.context import ALL_BANKS, Context
from holdfast.app.ingest.stages import update_stages
from holdfast.capture.home_paths import INJECTED_SUFFIX, HomePaths
from holdfast.learn.curation import Target, find_target
from holdfast.learn.erasure import Erased, HomeEraser
from holdfast.learn.text_erasure import ScrubPattern
from holdfast.model.uris import uri
from holdfast.settings import Settings


class Erasure:
    """Erases records and texts. What is erased cannot be restored."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def plan_purge(self, id: str, bank: str | None = ALL_BANKS) -> Erased:
        """What `purge` would erase."""
        return self._eraser().plan_purge(self._target(id, bank))[1]

    def purge(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Erased:
        """Erase a record and all that is derived from it, and have the servers that it was sent
        to erase it too."""
        target = self._target(id, bank)
        if self._context.store.outbox.items():
            from holdfast.app.remote.outbox import Outbox

            Outbox(self._context).withdraw_everywhere(target.bank, self._sent_as(target))
        return self._done(self._eraser(who).purge(target))

    def plan_scrub(self, pattern: str) -> Erased:
        """What `scrub` would erase."""
        return self._eraser().find(ScrubPattern(pattern))

    def scrub(self, pattern: str, who: str = "") -> Erased:
        """Erase a text, or what a regular expression between slashes matches, in every bank."""
        return self._done(self._eraser(who).scrub(ScrubPattern(pattern)))

    def _target(self, id: str, bank: str | None) -> Target:
        return find_target(self._context.store, self._context.bank_id(bank), id)

    def _sent_as(self, target: Target) -> list[str]:
        """The URIs that a record may have been sent as: a session as its digest and exchanges."""
        if target.kind != "session":
            return [target.uri]
        digest = self._context.store.sessions.digest(target.bank, target.id)
        exchanges = self._context.store.sessions.exchanges(target.bank, target.id)
        return [uri("exchange", one.id) for one in exchanges] + [
            uri("digest", one.id) for one in (digest,) if one is not None
        ]

    def _eraser(self, who: str = "") -> HomeEraser:
        context = self._context
        return HomeEraser(
            context.store,
            HomePaths(context.settings.home),
            context.now,
            context.actor(who),
            lambda: update_stages(context.store, context.settings, context.now),
        )

    def _done(self, erased: Erased) -> Erased:
        remove_derived_files(self._context.settings)
        self._context.after_change()
        return erased


def remove_derived_files(settings: Settings) -> None:
    """Remove vector matrices, prepared briefs, what was injected into sessions and research
    sessions, all of which may quote what was erased; what is needed is made again."""
    paths = HomePaths(settings.home)
    for folder, pattern in (
        (settings.vectors, "*.vectors*"),
        (settings.vectors, ".*.vectors*"),
        (paths.briefs, "*.json"),
        (paths.session_marks, f"*{INJECTED_SUFFIX}"),
        (paths.research, "mem-*"),
        (paths.research, "of-*/mem-*"),
    ):
        for path in folder.glob(pattern) if folder.is_dir() else ():
            with suppress(OSError):
                path.unlink()
