"""A repository on a forge, read from where it was left.

Each thread is stored with the cursor in one transaction, so reading may be killed, or stopped by a
limit, at any point and goes on there. What is edited upstream is said anew here; what is deleted
upstream stays. Texts are freed of what a reader cannot see and of secrets before they are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.capture.redact import Redactor
from holdfast.errors import ForgeBusyError
from holdfast.model.forge import ForgeAccount, Issue, Pull, Remark, Thread, thread_id
from holdfast.model.ids import content_id
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.git.threads import (
    closed_issues,
    curated_remark_passage,
    curated_thread_passage,
    refresh_passages,
    thread_title,
)
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.sources.forge.drafts import Account, Forge, Page, PullDraft, RemarkDraft, ThreadDraft
from holdfast.sources.json_fields import normal_time
from holdfast.store.protocol import Writer
from holdfast.store.protocol.forge import ForgeRepository

MAX_REMARKS = 1000
MAX_TEXT_CHARACTERS = 20_000
_LOOKED_AT = 10 * MAX_TEXT_CHARACTERS
_SHORT = 500
_MOST_FILES = 500
_MOST_LABELS = 50
THREADS = "threads"
_MOST_COUNTED = 50
# Comments of HTML are not shown on a page, nor are characters without a width: what stands there
# is for machines only.
_UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    r"|[\U000e0000-\U000e007f]",
    re.DOTALL,
)

# Called with the threads and remarks done so far, and how many there may be in all (0: unknown).
Tick = Callable[[int, int], None]


@dataclass(slots=True)
class ForgeReport:
    """What a reading brought: new or changed records, what was as before, what a limit left out or
    an erasure keeps out, how many requests it took, and why it stopped, if it did."""

    bank: str
    repo: str
    pulls: int = 0
    issues: int = 0
    remarks: int = 0
    unchanged: int = 0
    left_out: int = 0
    erased: int = 0
    requests: int = 0
    stopped: str = ""
    redacted: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class ForgeCount:
    """How many pulls and issues changed since the last reading, how many requests it may take to
    read them, without the remarks, and how many it took to count; `more` where counting stopped."""

    repo: str
    pulls: int
    issues: int
    requests: int
    asked: int
    more: bool = False


def count_forge(writer: Writer, bank: str, forge: Forge) -> ForgeCount:
    """What there is to read; changes nothing."""
    known = next((f for f in writer.forge_repositories(bank) if f.repo == forge.repo), None) if bank else None
    slug = _slug(forge.repo)
    pulls = issues = pages = 0
    more = False
    for page in forge.threads(known.cursors.get(THREADS, "") if known else "", {}):
        pages += 1
        for draft in page.drafts:
            word = "pull" if draft.is_pull else "issue"
            id = thread_id(draft.number, slug)
            there = writer.known_threads(bank, word, [id]).get(id)
            changed = there != normal_time(draft.updated)
            pulls += changed and draft.is_pull
            issues += changed and not draft.is_pull
        if pages >= _MOST_COUNTED:
            more = True
            break
    needed = pages + 4 * pulls + len(forge.lists)
    return ForgeCount(forge.repo, pulls, issues, needed, forge.requests, more)


def read_forge(
    writer: Writer,
    bank: str,
    forge: Forge,
    patterns: Iterable[tuple[str, str]],
    now: Callable[[], str],
    tick: Tick = lambda done, total: None,
) -> ForgeReport:
    """Read what is new on a forge; a limit that is reached ends the reading, not the run."""
    reading = _Reading(writer, bank, forge, Redactor(patterns), now, tick)
    try:
        reading.threads()
        for name in forge.lists:
            reading.remarks(name)
    except ForgeBusyError as error:
        reading.told.stopped = f"{error.message} {error.remedy}".strip()
    finally:
        reading.told.requests = forge.requests
    return reading.told


class _Reading:
    def __init__(
        self,
        writer: Writer,
        bank: str,
        forge: Forge,
        redactor: Redactor,
        now: Callable[[], str],
        tick: Tick,
    ) -> None:
        self._writer = writer
        self._bank = bank
        self._forge = forge
        self._redactor = redactor
        self._now = now
        self._tick = tick
        self._slug = _slug(forge.repo)
        known = next((f for f in writer.forge_repositories(bank) if f.repo == forge.repo), None)
        self._cursors = dict(known.cursors) if known else {}
        self._tags = dict(known.tags) if known else {}
        self._held: dict[str, set[str]] = {}
        self._titles: dict[str, str] = {}
        self._done = 0
        self.told = ForgeReport(bank, forge.repo)

    def threads(self) -> None:
        """Every pull and issue that changed."""
        for page in self._forge.threads(self._cursors.get(THREADS, ""), self._tags):
            done = self._done
            for draft in page.drafts:
                self._thread(draft)
                self._tick(self._done, max(page.total, done + len(page.drafts)))
            self._turn(THREADS, page)

    def remarks(self, name: str) -> None:
        """Every remark of a list that changed."""
        for page in self._forge.remarks(name, self._cursors.get(name, ""), self._tags):
            with self._writer.transaction():
                for draft in page.drafts:
                    self._put_remark(draft)
                self._done += len(page.drafts)
                self._turn(name, page)
            self._tick(self._done, max(page.total, self._done))

    def _turn(self, name: str, page: Page[Any]) -> None:
        """A page is done: the next reading begins behind it."""
        self._cursors[name] = max(self._cursors.get(name, ""), page.until)
        if page.address:
            kept = {a: tag for a, tag in self._tags.items() if _path(a) != _path(page.address)}
            self._tags = kept | ({page.address: page.tag} if page.tag else {})
        self._note()

    def _note(self) -> None:
        with self._writer.transaction():
            self._writer.put_forge_repository(
                ForgeRepository(self._bank, self._forge.repo, self._cursors, self._tags, self._now())
            )

    def _thread(self, draft: ThreadDraft) -> None:
        word = "pull" if draft.is_pull else "issue"
        id = thread_id(draft.number, self._slug)
        self._done += 1
        words = ("words", f"{word}/{id}")
        erased = ErasedNames(self._writer, self._bank, [(word, id), words])
        if erased.has(word, id):
            self.told.erased += 1
            return
        updated = normal_time(draft.updated)
        if self._writer.known_threads(self._bank, word, [id]).get(id) == updated:
            self.told.unchanged += 1
            return
        more = self._forge.pull(draft.number) if draft.is_pull else None
        thread = self._pull(draft, id, more or PullDraft()) if draft.is_pull else None
        record: Thread = thread or self._issue(draft, id)
        if erased.has(*words):
            record = self._without_words(record)
        before = self._writer.thread(self._bank, word, id)
        with self._writer.transaction():
            if self._writer.put_thread(record, curated_thread_passage(self._writer, record)):
                self.told.pulls += draft.is_pull
                self.told.issues += not draft.is_pull
            if before is not None and before.title != record.title:
                refresh_passages(self._writer, self._bank, word, id)
            self._titles[uri(word, id)] = record.title
            for review in more.reviews if more else ():
                self._put_remark(review)
            self._writer.put_logins(self._bank, self._logins(more) if more else ())
            # Not the tags: they are of whole answers.
            self._cursors[THREADS] = max(self._cursors.get(THREADS, ""), draft.updated)
            self._note()

    def _without_words(self, record: Thread) -> Thread:
        """A thread as it stands now, in the words that a scrubbing left."""
        word = "pull" if isinstance(record, Pull) else "issue"
        before = self._writer.thread(self._bank, word, record.id)
        if before is None:
            return record
        self.told.erased += 1
        record = replace(
            record, title=before.title, body=before.body, author=before.author,
            labels=before.labels, url=before.url,
        )  # fmt: skip
        if isinstance(record, Pull) and isinstance(before, Pull):
            return replace(record, files=before.files, base=before.base, branch=before.branch)
        return record

    def _issue(self, draft: ThreadDraft, id: str) -> Issue:
        d = draft
        return Issue(
            self._bank, id, d.number, d.time, self._name(d.author.login), self._line(d.title),
            self._text(d.body), d.state, _link(d.url), _trust(d.author), self._forge.repo,
            normal_time(d.updated), d.closed, self._names(d.labels, _MOST_LABELS), d.author.bot,
        )  # fmt: skip

    def _pull(self, draft: ThreadDraft, id: str, more: PullDraft) -> Pull:
        d = draft
        said = "\n".join((d.title, d.body[:_LOOKED_AT], *more.messages))
        return Pull(
            self._bank, id, d.number, d.time, self._name(d.author.login), self._line(d.title),
            self._text(d.body), more.state or d.state, _link(d.url), _trust(d.author),
            self._forge.repo, normal_time(d.updated), d.closed,
            self._names(d.labels, _MOST_LABELS), self._names(more.files, _MOST_FILES),
            tuple(filter(_is_sha, more.commits)), more.merge if _is_sha(more.merge) else "",
            self._name(more.base), self._name(more.branch), closed_issues(said), d.author.bot,
        )  # fmt: skip

    def _put_remark(self, draft: RemarkDraft) -> None:
        d = draft
        thread = uri("pull" if d.is_pull else "issue", thread_id(d.number, self._slug))
        id = content_id("remark", self._forge.repo, d.kind.value, d.id)
        named = [
            ("remark", id),
            ("words", f"remark/{id}"),
            ("pull" if d.is_pull else "issue", thread.rpartition("/")[2]),
        ]
        erased = ErasedNames(self._writer, self._bank, named)
        if any(erased.has(*name) for name in named):
            self.told.erased += 1
            return
        held = self._held.get(thread)
        if held is None:
            under = self._writer.all_remarks(self._bank, thread)
            held = self._held[thread] = {remark.id for remark in under}
        if id not in held and len(held) >= MAX_REMARKS:
            self.told.left_out += 1
            return
        held.add(id)
        remark = Remark(
            self._bank, id, thread, d.kind, d.time, self._name(d.author.login), self._text(d.text),
            d.state if d.state.isidentifier() else "", self._name(d.path), d.line, _link(d.url),
            _trust(d.author), normal_time(d.updated), d.author.bot,
        )  # fmt: skip
        if thread not in self._titles:
            self._titles[thread] = thread_title(self._writer, remark)
        passage = curated_remark_passage(self._writer, remark, self._titles[thread])
        self.told.remarks += self._writer.put_remark(remark, passage)

    def _logins(self, more: PullDraft) -> list[ForgeAccount]:
        cleaned = [ForgeAccount(*(self._name(part) for part in login)) for login in more.logins]
        return [login for login in cleaned if login.login]

    def _names(self, names: Iterable[str], most: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(self._name, list(names)[:most]))))

    def _name(self, text: str) -> str:
        return self._clean(text, _SHORT).replace("\n", " ").strip()

    def _line(self, text: str) -> str:
        return " ".join(self._clean(text, _SHORT).split())

    def _text(self, text: str) -> str:
        return self._clean(text.replace("\r\n", "\n"), MAX_TEXT_CHARACTERS).strip()

    def _clean(self, text: str, limit: int) -> str:
        """What may be kept of a text: what a reader sees, without secrets, and not too long. What
        is cut off is cut after it was redacted, so that no half of a secret stays."""
        done = self._redactor.redact(_UNSEEN.sub("", text[:_LOOKED_AT]))
        self.told.redacted.update(done.taken)
        return done.text if len(done.text) <= limit else done.text[: limit - 1] + "…"


def _trust(author: Account) -> Trust:
    return Trust.TEAM if author.team and not author.bot else Trust.EXTERNAL


def _slug(repo: str) -> str:
    """A repository's part of an id: without the host, where that is the usual one."""
    return repo.removeprefix("github.com/")


def _path(address: str) -> str:
    return address.partition("?")[0]


def _link(url: str) -> str:
    """An address to open, or none: nothing but the web, and nothing long."""
    fine = url.startswith(("https://", "http://")) and len(url) <= 500 and url.isprintable()
    return url if fine and not any(c in url for c in " <>\"'\\") else ""


def _is_sha(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40,64}", text) is not None
