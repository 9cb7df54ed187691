"""Reads the pulls, issues and remarks of a repository on a forge, from where the last run stopped.

Each thread is stored with the cursor in one transaction, so a run can be killed or stopped by a
rate limit at any point, and the next one continues there. What is edited upstream is updated; what
is deleted upstream stays. Invisible text and secrets are removed before anything is stored.
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
from holdfast.refine.git.forge_threads import (
    closed_issues,
    curated_remark_passage,
    curated_thread_passage,
    refresh_passages,
    thread_title,
)
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.regex import regex
from holdfast.sources.forge.drafts import Account, Page, PullDraft, RemarkDraft, ThreadDraft
from holdfast.sources.forge.github import GitHub
from holdfast.sources.json_fields import normal_time
from holdfast.store.protocol import Writer
from holdfast.store.records.forge import ForgeRepository

# Limits on what a forge may send, so that one thread cannot fill the store. Remarks are counted per
# thread; what is longer or more is cut or counted as left out.
MAX_REMARKS = 1000
MAX_TEXT_CHARACTERS = 20_000
# Characters of a text that are redacted before it is cut.
_MAX_READ_CHARACTERS = 10 * MAX_TEXT_CHARACTERS
_MAX_NAME_CHARACTERS = 500
_MAX_FILES = 500
_MAX_LABELS = 50
_MAX_LINK_CHARACTERS = 500
# The name of the cursor for threads; each list of remarks has one of its own name.
THREADS = "threads"
# Pages that are requested to count what is new; beyond this the count is a minimum.
_MAX_COUNTED_PAGES = 50
# Requests that reading one pull takes, besides its page of the list.
_REQUESTS_PER_PULL = 4
# A page does not show HTML comments and characters without a width: text for machines only.
_INVISIBLE = regex(
    r"<!--.*?(?:-->|\Z)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    r"|[\U000e0000-\U000e007f]",
    re.DOTALL,
)

# Called with the threads and remarks done so far, and how many there may be in all (0: unknown).
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class ForgeReport:
    """What one run read: new or changed records, unchanged ones, those that a limit or an erasure
    left out, how many requests it took, and why it stopped early."""

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
    """How many pulls and issues changed since the last run, how many requests reading them takes
    without the remarks, and how many the count took (`asked`). `more` if counting stopped early."""

    repo: str
    pulls: int
    issues: int
    requests: int
    asked: int
    more: bool = False


def count_forge(writer: Writer, bank: str, forge: GitHub) -> ForgeCount:
    """Count what is new on a forge. Changes nothing."""
    known = _known_repository(writer, bank, forge) if bank else None
    changed: Counter[str] = Counter()
    pages = 0
    for page in forge.threads(known.cursors.get(THREADS, "") if known else "", {}):
        pages += 1
        for draft in page.drafts:
            kind, id = _thread_name(draft, forge)
            stored = writer.forge.known_threads(bank, kind, [id]).get(id)
            changed[kind] += stored != normal_time(draft.updated)
        if pages >= _MAX_COUNTED_PAGES:
            break
    pulls, more = changed["pull"], pages >= _MAX_COUNTED_PAGES
    needed = pages + _REQUESTS_PER_PULL * pulls + len(forge.lists)
    return ForgeCount(forge.repo, pulls, changed["issue"], needed, forge.requests, more)


def read_forge(
    writer: Writer,
    bank: str,
    forge: GitHub,
    patterns: Iterable[tuple[str, str]],
    now: Callable[[], str],
    on_progress: Progress = lambda done, total: None,
) -> ForgeReport:
    """Read what is new on a forge. A rate limit ends the run early, without an error."""
    reader = _ForgeReader(writer, bank, forge, Redactor(patterns), now, on_progress)
    try:
        reader.threads()
        for name in forge.lists:
            reader.remarks(name)
    except ForgeBusyError as error:
        reader.report.stopped = f"{error.message} {error.remedy}".strip()
    finally:
        reader.report.requests = forge.requests
    return reader.report


class _ForgeReader:
    def __init__(
        self,
        writer: Writer,
        bank: str,
        forge: GitHub,
        redactor: Redactor,
        now: Callable[[], str],
        on_progress: Progress,
    ) -> None:
        self._writer = writer
        self._bank = bank
        self._forge = forge
        self._redactor = redactor
        self._now = now
        self._on_progress = on_progress
        known = _known_repository(writer, bank, forge)
        self._cursors = dict(known.cursors) if known else {}
        self._tags = dict(known.tags) if known else {}
        self._remark_ids: dict[str, set[str]] = {}
        self._titles: dict[str, str] = {}
        self._done = 0
        self.report = ForgeReport(bank, forge.repo)

    def threads(self) -> None:
        """Read every pull and issue that changed."""
        for page in self._forge.threads(self._cursors.get(THREADS, ""), self._tags):
            done = self._done
            for draft in page.drafts:
                self._read_thread(draft)
                self._on_progress(self._done, max(page.total, done + len(page.drafts)))
            self._finish_page(THREADS, page)

    def remarks(self, name: str) -> None:
        """Read every changed remark of a list."""
        for page in self._forge.remarks(name, self._cursors.get(name, ""), self._tags):
            with self._writer.transaction():
                for draft in page.drafts:
                    self._read_remark(draft)
                self._done += len(page.drafts)
                self._finish_page(name, page)
            self._on_progress(self._done, max(page.total, self._done))

    def _finish_page(self, name: str, page: Page[Any]) -> None:
        """Move the cursor behind a page, so that the next run starts there."""
        self._cursors[name] = max(self._cursors.get(name, ""), page.until)
        if page.address:
            list_address = page.address.partition("?")[0]
            tags = self._tags.items()
            self._tags = {a: tag for a, tag in tags if a.partition("?")[0] != list_address}
            self._tags |= {page.address: page.tag} if page.tag else {}
        self._store_progress()

    def _store_progress(self) -> None:
        repo, now = self._forge.repo, self._now()
        with self._writer.transaction():
            self._writer.forge.put_repository(
                ForgeRepository(self._bank, repo, self._cursors, self._tags, now)
            )

    def _read_thread(self, draft: ThreadDraft) -> None:
        kind, id = _thread_name(draft, self._forge)
        self._done += 1
        text_mark = ("words", f"{kind}/{id}")
        erased = ErasedNames(self._writer, self._bank, [(kind, id), text_mark])
        if erased.has(kind, id):
            self.report.erased += 1
            return
        updated = normal_time(draft.updated)
        if self._writer.forge.known_threads(self._bank, kind, [id]).get(id) == updated:
            self.report.unchanged += 1
            return
        more = (self._forge.pull(draft.number) if draft.is_pull else None) or PullDraft()
        remarks = more.reviews
        record = self._build_thread(draft, id, more)
        before = self._writer.forge.thread_uncurated(self._bank, kind, id)
        if before is not None and erased.has(*text_mark):
            record = self._keep_scrubbed_text(record, before)
        with self._writer.transaction():
            if self._writer.forge.put_thread(record, curated_thread_passage(self._writer, record)):
                self.report.pulls += draft.is_pull
                self.report.issues += not draft.is_pull
            if before is not None and before.title != record.title:
                refresh_passages(self._writer, self._bank, kind, id)
            self._titles[uri(kind, id)] = record.title
            for remark in remarks:
                self._read_remark(remark)
            logins = (ForgeAccount(*map(self._clean_name, login)) for login in more.logins)
            self._writer.forge.put_logins(self._bank, [one for one in logins if one.login])
            # The tags are those of whole pages, and stay until the page is done.
            self._cursors[THREADS] = max(self._cursors.get(THREADS, ""), draft.updated)
            self._store_progress()

    def _keep_scrubbed_text(self, record: Thread, before: Thread) -> Thread:
        """The thread with the stored texts, which were scrubbed, in place of those of the forge."""
        self.report.erased += 1
        record = replace(
            record, title=before.title, body=before.body, author=before.author,
            labels=before.labels, url=before.url,
        )  # fmt: skip
        if isinstance(record, Pull) and isinstance(before, Pull):
            return replace(record, files=before.files, base=before.base, branch=before.branch)
        return record

    def _build_thread(self, draft: ThreadDraft, id: str, more: PullDraft) -> Thread:
        d = draft
        common: dict[str, Any] = {
            "bank": self._bank,
            "id": id,
            "number": d.number,
            "time": d.time,
            "author": self._clean_name(d.author.login),
            "title": self._clean_line(d.title),
            "body": self._clean_text(d.body),
            "state": more.state or d.state,
            "url": _safe_link(d.url),
            "trust": _trust(d.author),
            "repo": self._forge.repo,
            "updated": normal_time(d.updated),
            "closed": d.closed,
            "labels": self._clean_names(d.labels, _MAX_LABELS),
            "bot": d.author.bot,
        }
        if not d.is_pull:
            return Issue(**common)
        texts = "\n".join((d.title, d.body[:_MAX_READ_CHARACTERS], *more.messages))
        return Pull(
            **common,
            files=self._clean_names(more.files, _MAX_FILES),
            commits=tuple(filter(_is_sha, more.commits)),
            merge=more.merge if _is_sha(more.merge) else "",
            base=self._clean_name(more.base),
            branch=self._clean_name(more.branch),
            fixes=tuple(dict.fromkeys(closed_issues(texts))),
        )

    def _read_remark(self, draft: RemarkDraft) -> None:
        d = draft
        thread_name = _thread_name(d, self._forge)
        thread = uri(*thread_name)
        id = content_id("remark", self._forge.repo, d.kind.value, d.id)
        named = [("remark", id), ("words", f"remark/{id}"), thread_name]
        erased = ErasedNames(self._writer, self._bank, named)
        if any(erased.has(*name) for name in named):
            self.report.erased += 1
            return
        ids = self._remark_ids.get(thread)
        if ids is None:
            stored = self._writer.forge.remarks_uncurated(self._bank, thread)
            ids = self._remark_ids[thread] = {remark.id for remark in stored}
        if id not in ids and len(ids) >= MAX_REMARKS:
            self.report.left_out += 1
            return
        ids.add(id)
        remark = Remark(
            bank=self._bank,
            id=id,
            thread=thread,
            kind=d.kind,
            time=d.time,
            author=self._clean_name(d.author.login),
            text=self._clean_text(d.text),
            state=d.state if d.state.isidentifier() else "",
            path=self._clean_name(d.path),
            line=d.line,
            url=_safe_link(d.url),
            trust=_trust(d.author),
            updated=normal_time(d.updated),
            bot=d.author.bot,
        )
        if thread not in self._titles:
            self._titles[thread] = thread_title(self._writer, remark)
        passage = curated_remark_passage(self._writer, remark, self._titles[thread])
        self.report.remarks += self._writer.forge.put_remark(remark, passage)

    def _clean_names(self, names: Iterable[str], most: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(self._clean_name, list(names)[:most]))))

    def _clean_name(self, text: str) -> str:
        return self._clean(text, _MAX_NAME_CHARACTERS).replace("\n", " ").strip()

    def _clean_line(self, text: str) -> str:
        return " ".join(self._clean(text, _MAX_NAME_CHARACTERS).split())

    def _clean_text(self, text: str) -> str:
        return self._clean(text.replace("\r\n", "\n"), MAX_TEXT_CHARACTERS).strip()

    def _clean(self, text: str, limit: int) -> str:
        """A text without invisible characters and secrets, cut to a limit. It is redacted before it
        is cut, so that no half of a secret stays."""
        done = self._redactor.redact(_INVISIBLE.sub("", text[:_MAX_READ_CHARACTERS]))
        self.report.redacted.update(done.counts)
        return done.text if len(done.text) <= limit else done.text[: limit - 1] + "…"


def _trust(author: Account) -> Trust:
    return Trust.TEAM if author.team and not author.bot else Trust.EXTERNAL


def _known_repository(writer: Writer, bank: str, forge: GitHub) -> ForgeRepository | None:
    return next((f for f in writer.forge.repositories(bank) if f.repo == forge.repo), None)


def _thread_name(draft: ThreadDraft | RemarkDraft, forge: GitHub) -> tuple[str, str]:
    """The kind and the id of a thread, or of the thread of a remark. The id names the repository,
    without the host if that is GitHub."""
    id = thread_id(draft.number, forge.repo.removeprefix("github.com/"))
    return ("pull" if draft.is_pull else "issue"), id


def _safe_link(url: str) -> str:
    """A web address without characters that could break out of a page; else ""."""
    is_web = url.startswith(("https://", "http://")) and url.isprintable()
    fits = len(url) <= _MAX_LINK_CHARACTERS
    return url if is_web and fits and not any(c in url for c in " <>\"'\\") else ""


def _is_sha(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40,64}", text) is not None
