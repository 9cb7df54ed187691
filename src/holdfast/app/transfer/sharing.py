"""A memory that people share with others: chosen records, on a branch beside the code.

Nothing is shared, sent or taken in but on a person's word, after it was shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import Context, current_folder
from holdfast.app.curation.bank_profiles import log_change
from holdfast.app.curation.records import curator_for
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError
from holdfast.language import truncate
from holdfast.learn.decision_state import in_effect
from holdfast.learn.share_drafts import (
    Draft,
    Sharer,
    TextCleaner,
    dated_after,
    draft_shares,
    same_content,
)
from holdfast.learn.share_intake import ShareImportPlan, ShareSource, import_shares, plan_import
from holdfast.model.curation import Action, Curation
from holdfast.model.team import SharedRecord
from holdfast.model.uris import parse_uri, uri
from holdfast.sources.git.share_branch import Person, ShareBranch, git_identity
from holdfast.sources.rule_locations import project_root
from holdfast.sources.share_format import (
    Files,
    RefusedLine,
    decode,
    encode,
    merge,
    person_path,
    read_shares,
)
from holdfast.store.protocol.shares import ShareImport


class SharePlan(NamedTuple):
    """What sharing would change: what is new, what is said anew with what was said before, what is
    shared in these words already, and what is taken back."""

    bank: str
    place: str
    person: Person
    added: tuple[Draft, ...] = ()
    changed: tuple[tuple[Draft, SharedRecord], ...] = ()
    same: tuple[SharedRecord, ...] = ()
    gone: tuple[SharedRecord, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all is as it should be already."""
        return not (self.added or self.changed or self.gone)


class SharedListing(NamedTuple):
    """What is shared in a place: what holds, and the lines that nobody should read."""

    place: str
    held: tuple[SharedRecord, ...]
    refused: tuple[RefusedLine, ...]


class Sharing:
    """Shares records and takes in what others share. A `place` is the path of a repository; "" is
    the one of the working directory."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def plan_share(
        self, names: Sequence[str], place: str = "", note: str = "", bank: str | None = None
    ) -> SharePlan:
        """What sharing some records would change."""
        shelf = self._shelf(place)
        person = git_identity(Path(current_folder()))
        id = self._context.bank(bank).id
        sharer = Sharer(person.name, person.email, self._context.now(), note)
        drafts = draft_shares(self._context.store, id, names, self._words(), sharer)
        held, _ = read_shares(shelf.read())
        told = SharePlan(id, str(shelf.folder), person)
        for one in drafts:
            known = held.get(one.shared.id)
            dated = one._replace(shared=dated_after(one.shared, known))
            if known is None or known.gone:
                told = told._replace(added=(*told.added, dated))
            elif same_content(known, one.shared):
                told = told._replace(same=(*told.same, known))
            else:
                told = told._replace(changed=(*told.changed, (dated, known)))
        return told

    def plan_unshare(self, names: Sequence[str], place: str = "") -> SharePlan:
        """What taking back would change; only what we share ourselves can be taken back."""
        shelf = self._shelf(place)
        person = git_identity(Path(current_folder()))
        held, _ = read_shares(shelf.read())
        shown = [shared for shared in held.values() if not shared.gone]
        told = SharePlan("", str(shelf.folder), person)
        for name in dict.fromkeys(names):
            found = _meant(shown, name)
            if found.email.lower() != person.email.lower():
                raise InputError(
                    f"{uri('shared', found.id)} was shared by {found.author} <{found.email}>.",
                    "Ask them to take it back, or `holdfast forget` it here once it is pulled.",
                )
            gone = replace(found, gone=True, author=person.name, shared=self._context.now())
            told = told._replace(gone=(*told.gone, dated_after(gone, found)))
        return told

    def share(self, planned: SharePlan) -> str:
        """Write what was planned onto the branch; returns the commit, "" if nothing changed."""
        shelf = self._shelf(planned.place)
        new = [one.shared for one in (*planned.added, *(new for new, _ in planned.changed))]
        new += planned.gone
        lines = [(person_path(shared.email), encode(shared)) for shared in new]
        for path, line in lines:
            if isinstance(why := decode(line, path), str):
                raise InputError(f"This cannot be shared: {why}.", "Share less at once.")

        def change(files: Files) -> Files:
            added: dict[str, bytes] = {}
            for path, line in lines:
                added[path] = added.get(path, b"") + line + b"\n"
            return merge([files, added])

        made = shelf.write(change, _message(planned), planned.person)
        with self._context.store.transaction():
            self._context.store.put_sent(planned.bank, [one.id for one in new if not one.gone])
            if made:
                self._note_shared(planned, new)
        return made

    def _note_shared(self, planned: SharePlan, new: Sequence[SharedRecord]) -> None:
        """Say in the log what others can have from now on, or should let go of; by name alone."""
        for back, names in (
            (False, [uri("shared", one.id) for one in new if not one.gone]),
            (True, [uri("shared", one.id) for one in new if one.gone]),
        ):
            if names:
                told = "\n".join(("taken back" if back else "shared", *names))
                bank = uri("bank", planned.bank)
                log_change(self._context, planned.bank, Action.SHARE, bank, told, "")

    def push(self, remote: str = "", place: str = "") -> tuple[str, bool]:
        """Bring the branch to a remote: the one that is named, or `origin`, or the only one.
        Returns its name and whether there was anything to bring."""
        shelf = self._shelf(place)
        known = shelf.remotes()
        chosen = remote or ("origin" if "origin" in known else "") or "".join(known[:1])
        if not chosen or (not remote and chosen != "origin" and len(known) > 1):
            raise InputError(
                "It is not clear where to push to.",
                f"Name a remote: {', '.join(known)}." if known else "Add one: git remote add …",
            )
        return chosen, shelf.push(chosen, git_identity(Path(current_folder())))

    def list_shared(self, place: str = "") -> SharedListing:
        """What is shared in a place, the latest last."""
        shelf = self._shelf(place)
        held, refused = read_shares(shelf.read())
        shown = sorted((s for s in held.values() if not s.gone), key=lambda s: (s.shared, s.id))
        return SharedListing(str(shelf.folder), tuple(shown), tuple(refused))

    def plan_pull(self, place: str = "", bank: str | None = None) -> ShareImportPlan:
        """What taking in others' shared memories would change: from a repository, from a remote of
        this one, which is asked for what is new, or from what is here already."""
        folder = Path(place).expanduser() if place else Path(current_folder())
        remote = "" if folder.is_dir() else place
        shelf = self._shelf("" if remote else place)
        if remote:
            shelf.fetch(remote)
        tips = shelf.tips()
        where = ShareSource(remote or str(shelf.folder), tuple(tips))
        redactor = Redactor(self._context.settings.redact_patterns)
        email = ""
        with suppress(InputError):  # who has no name has shared nothing either
            email = git_identity(Path(current_folder())).email
        found = read_shares(shelf.read(tips))
        return plan_import(
            self._context.store,
            self._context.one_bank_id(bank),
            found,
            where,
            self._context.now(),
            redactor,
            email,
        )

    def pull(self, planned: ShareImportPlan, bank: str | None = None, who: str = "") -> str:
        """Take in what was planned, into a bank that is made if need be; returns the name of the
        taking, "" if there was nothing."""
        if planned.is_empty:
            return ""
        id = self._context.one_bank_id(bank) or self._context.bank_maker.ensure(
            self._context.store, current_folder()
        )
        taking = import_shares(
            self._context.store, id, planned, self._context.now, self._context.actor(who)
        )
        self._context.after_change()
        return taking

    def undo_pull(self, name: str, bank: str | None = None, who: str = "") -> Curation:
        """Take back all that one pull brought."""
        banks = [self._context.one_bank_id(bank)]
        found = curator_for(self._context, who).undo_batch(banks, Action.PULL, name)
        self._context.after_change()
        return found[0]

    def pulls(self, bank: str | None = None) -> list[tuple[ShareImport, bool]]:
        """Every pull that brought something, and whether it stands."""
        id = self._context.one_bank_id(bank)
        left = {entry.target for entry in in_effect(self._context.store.curations(id))}
        return [
            (one, uri("taking", one.id) in left) for one in self._context.store.share_imports(id)
        ]

    def _shelf(self, place: str) -> ShareBranch:
        folder = Path(place).expanduser() if place else Path(current_folder())
        if not folder.is_dir():
            raise NotFoundError(f"{place} is not a folder.", "Name a repository, or a remote.")
        return ShareBranch(folder.resolve())

    def _words(self) -> TextCleaner:
        return TextCleaner(
            Redactor(self._context.settings.redact_patterns), project_root(current_folder())
        )


def _meant(held: Iterable[SharedRecord], name: str) -> SharedRecord:
    """The shared record that a name means: its own, that of what it was made of, or the start of
    either."""
    named = parse_uri(name)
    if named is None:
        raise InputError(f"{name!r} is not the name of a record.", "See `holdfast share --list`.")
    found = [
        s
        for s in held
        if (named.kind in ("", "shared") and s.id.startswith(named.id))
        or s.origin.startswith(str(named) if named.kind else "\n")
        or (not named.kind and s.origin.rpartition("/")[2].startswith(named.id))
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(f"Nothing shared is called {name}.", "See `holdfast share --list`.")
    names = ", ".join(uri("shared", s.id) for s in found[:5])
    raise NotFoundError(f"Several shared records start with {name!r}.", f"One of: {names}.")


def _message(planned: SharePlan) -> str:
    """What the commit says: how much, and the first words of each."""
    new = [one.shared for one in planned.added]
    parts = [
        (f"Share {len(new)}", new),
        (f"Say {len(planned.changed)} anew", [one.shared for one, _ in planned.changed]),
        (f"Take {len(planned.gone)} back", list(planned.gone)),
    ]
    told = [(title, records) for title, records in parts if records]
    subject = ", ".join(title for title, _ in told) or "Share nothing"
    first = [
        f"- {s.kind}: {truncate(s.text.splitlines()[0], 80)}" for _, rs in told[:2] for s in rs[:20]
    ]
    return f"{subject}\n\n" + "\n".join(first) + "\n"
