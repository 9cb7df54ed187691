"""Sharing with a team: chosen records on a git branch beside the code.

Nothing is shared, pushed or pulled before a person has seen the plan and agreed. The branch is in
`holdfast.sources.git.share_branch`, the drafts are in `holdfast.learn.share_drafts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import Context, current_folder
from holdfast.app.curation.records import curator_for, log_decision
from holdfast.app.remote.outbox import SharePlan
from holdfast.errors import InputError, NotFoundError
from holdfast.language import truncate
from holdfast.learn.share_drafts import (
    Draft,
    Sharer,
    TextCleaner,
    dated_after,
    draft_shares,
    same_content,
)
from holdfast.learn.share_intake import ShareImportPlan, ShareSource, import_shares, plan_import
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.uris import parse_uri, uri
from holdfast.sources.git.share_branch import Person, ShareBranch, git_identity
from holdfast.sources.rule_locations import project_root
from holdfast.sources.share_format import (
    RefusedLine,
    decode,
    encode,
    merge,
    person_path,
    read_shares,
)
from holdfast.store.records.shares import ShareImport


class SharedListing(NamedTuple):
    """What a repository shares: the records in effect, and the lines that were refused."""

    place: str
    held: tuple[SharedRecord, ...]
    refused: tuple[RefusedLine, ...]


class Sharing:
    """Shares records and imports what others share. A `place` is the path of a repository; "" is
    that of the working directory."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def plan_share(
        self, names: Sequence[str], place: str = "", note: str = "", bank: str | None = None
    ) -> SharePlan:
        """What sharing some records would change."""
        branch, person = self._branch(place), git_identity(Path(current_folder()))
        id = self._context.bank(bank).id
        sharer = Sharer(person.name, person.email, self._context.now(), note)
        cleaner = TextCleaner(self._context.redactor(), project_root(current_folder()))
        held, _ = read_shares(branch.read())
        added: list[Draft] = []
        changed: list[Draft] = []
        same: list[str] = []
        for draft in draft_shares(self._context.store, id, names, cleaner, sharer):
            known = held.get(draft.shared.id)
            if known and not known.gone and same_content(known, draft.shared):
                same.append(uri("shared", known.id))
            else:
                dated = draft._replace(shared=dated_after(draft.shared, known))
                (added if known is None or known.gone else changed).append(dated)
        return _plan(branch, person, id)._replace(
            added=tuple(added), changed=tuple(changed), same=tuple(same)
        )

    def plan_unshare(self, names: Sequence[str], place: str = "") -> SharePlan:
        """What withdrawing shared records would change. Only the author can withdraw a record."""
        branch, person = self._branch(place), git_identity(Path(current_folder()))
        held, _ = read_shares(branch.read())
        gone: list[SharedRecord] = []
        for name in dict.fromkeys(names):
            found = _find_shared((one for one in held.values() if not one.gone), name)
            if found.email.lower() != person.email.lower():
                raise InputError(
                    f"{uri('shared', found.id)} was shared by {found.author} <{found.email}>.",
                    "Ask them to withdraw it, or `holdfast forget` it here after a pull.",
                )
            now = self._context.now()
            gone.append(
                dated_after(replace(found, gone=True, author=person.name, shared=now), found)
            )
        return _plan(branch, person, "")._replace(taken_back=tuple(gone))

    def share(self, planned: SharePlan) -> str:
        """Commit a plan to the branch; returns the commit, "" if nothing changed."""
        branch, person = self._branch(planned.place), git_identity(Path(current_folder()))
        new = [one.shared for one in (*planned.added, *planned.changed)]
        added: dict[str, bytes] = {}
        for shared in (*new, *planned.taken_back):
            path, line = person_path(shared.email), encode(shared)
            if isinstance(why := decode(line, path), str):
                raise InputError(f"This cannot be shared: {why}.", "Share less at once.")
            added[path] = added.get(path, b"") + line + b"\n"
        commit = branch.write(lambda files: merge([files, added]), _message(planned), person)
        with self._context.store.transaction():
            self._context.store.shares.put_sent(planned.bank, [one.id for one in new])
            for records, heading in ((new, "shared"), (planned.taken_back, "taken back")):
                uris = [uri("shared", one.id) for one in records]
                if commit and uris:
                    bank, text = uri("bank", planned.bank), "\n".join((heading, *uris))
                    log_decision(self._context, planned.bank, Action.SHARE, bank, text, "")
        return commit

    def push(self, remote: str = "", place: str = "") -> tuple[str, bool]:
        """Push the branch to the named remote, or to `origin`, or to the only remote. Returns its
        name and whether there was anything to push."""
        branch = self._branch(place)
        known = branch.remotes()
        chosen = remote or ("origin" if "origin" in known else "") or "".join(known[:1])
        if not chosen or (not remote and chosen != "origin" and len(known) > 1):
            raise InputError(
                "It is not clear where to push to.",
                f"Name a remote: {', '.join(known)}." if known else "Add one: git remote add …",
            )
        return chosen, branch.push(chosen, git_identity(Path(current_folder())))

    def list_shared(self, place: str = "") -> SharedListing:
        """What a repository shares, the latest last."""
        branch = self._branch(place)
        held, refused = read_shares(branch.read())
        shown = sorted((s for s in held.values() if not s.gone), key=lambda s: (s.shared, s.id))
        return SharedListing(str(branch.folder), tuple(shown), tuple(refused))

    def plan_pull(self, place: str = "", bank: str | None = None) -> ShareImportPlan:
        """What importing shared records would change. `place` is a repository, a remote of this
        one, which is fetched first, or "" for this repository as it is."""
        folder = Path(place).expanduser() if place else Path(current_folder())
        remote = "" if folder.is_dir() else place
        branch = self._branch("" if remote else place)
        if remote:
            branch.fetch(remote)
        tips = branch.tips()
        source = ShareSource(remote or str(branch.folder), tuple(tips))
        email = ""
        with suppress(InputError):  # without an identity in git nothing was shared
            email = git_identity(Path(current_folder())).email
        found, context = read_shares(branch.read(tips)), self._context
        id, now, redactor = context.one_bank_id(bank), context.now(), context.redactor()
        return plan_import(context.store, id, found, source, now, redactor, email)

    def pull(self, planned: ShareImportPlan, bank: str | None = None, who: str = "") -> str:
        """Import a plan into a bank, which is made if it does not exist; returns the URI of the
        import, "" if there was nothing."""
        if planned.is_empty:
            return ""
        context = self._context
        id = context.one_bank_id(bank) or context.ensure_bank()
        imported = import_shares(context.store, id, planned, context.now, context.actor(who))
        context.after_change()
        return imported

    def undo_pull(self, name: str, bank: str | None = None, who: str = "") -> Curation:
        """Remove all that one pull imported; returns the log entry."""
        banks = [self._context.one_bank_id(bank)]
        found = curator_for(self._context, who).undo_batch(banks, Action.PULL, name)
        self._context.after_change()
        return found[0]

    def pulls(self, bank: str | None = None) -> list[tuple[ShareImport, bool]]:
        """Every pull that imported something, and whether it is in effect (not undone)."""
        id = self._context.one_bank_id(bank)
        effective = {entry.target for entry in in_effect(self._context.store.curation.log(id))}
        known = self._context.store.shares.imports(id)
        return [(one, uri("taking", one.id) in effective) for one in known]

    def _branch(self, place: str) -> ShareBranch:
        folder = Path(place).expanduser() if place else Path(current_folder())
        if not folder.is_dir():
            raise NotFoundError(f"{place} is not a folder.", "Name a repository, or a remote.")
        return ShareBranch(folder.resolve())


def _find_shared(held: Iterable[SharedRecord], name: str) -> SharedRecord:
    """The only shared record whose own id or URI, or that of the record it was made from, starts
    with `name`."""
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
        raise NotFoundError(f"There is no shared record {name!r}.", "See `holdfast share --list`.")
    names = ", ".join(uri("shared", s.id) for s in found[:5])
    raise NotFoundError(f"Several shared records start with {name!r}.", f"One of: {names}.")


def _plan(branch: ShareBranch, person: Person, bank: str) -> SharePlan:
    name = f"{person.name} <{person.email}>"
    return SharePlan(bank, str(branch.folder), name, Scope.PROJECT)


def _message(planned: SharePlan) -> str:
    """The commit message: how many records, and the first words of each."""
    changes = {
        f"Share {len(planned.added)}": [one.shared for one in planned.added],
        f"Say {len(planned.changed)} anew": [one.shared for one in planned.changed],
        f"Take {len(planned.taken_back)} back": planned.taken_back,
    }
    changes = {title: records for title, records in changes.items() if records}
    shown = [one for records in list(changes.values())[:2] for one in records[:20]]
    first = [f"- {one.kind}: {truncate(one.text.splitlines()[0], 80)}" for one in shown]
    return f"{', '.join(changes) or 'Share nothing'}\n\n" + "\n".join(first) + "\n"
