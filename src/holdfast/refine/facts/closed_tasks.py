"""Finds which open tasks were done later: by a commit, or by a statement that reports it as done.

A task is closed only where the words surely show it: a later sentence says that something was done,
it names the numbers of the task, most of its names and paths and nearly all of its words, rare ones
counting more, and what it is about is the task itself and not tests, notes or plans for it. A task
that is stated again after that is open again. The result depends on the tasks and deeds alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import STOPWORDS, code_names, fold_name, plain, sentences, stem, words
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    EndedStatement,
    EndReason,
    Kind,
    Memory,
    StatusChange,
)
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.regex import regex


class ClosingLimits(NamedTuple):
    """When a deed closes a task. Chosen by hand to be sure rather than complete: a task that stays
    open is read once more, one that was closed wrongly is lost."""

    # Share of the weight of a task's words that a deed names.
    covered: float = 0.7
    # More than this share of its names of code and paths.
    shared_names: float = 0.5
    # Words that tell what a task is about. A task with fewer may be any; one with more is a story.
    min_words: int = 2
    max_words: int = 16
    # Words after the verb of a deed of which one must be of the task: what was added, or fixed.
    head_words: int = 3
    # Words of a deed beyond those of the task, for each of these: a longer report is about more.
    surplus: float = 3.0
    # Words in no more sentences than this count alike: a word of a task and of what closed it is in
    # two at least, and not less telling than one that is only in the task.
    rare: int = 3
    # The rarest words of a task, by one of which a deed is found.
    index_words: int = 2


_LIMITS = ClosingLimits()
_EXCHANGE, _MEMORY, _TURN = (uri(kind, "") for kind in ("exchange", "memory", "turn"))


class Task(NamedTuple):
    """Something left open: the id of its memory, its words, when the last exchange that states it
    ended, and the records that state it (URIs)."""

    id: str
    text: str
    time: str
    evidence: tuple[str, ...] = ()


class Deed(NamedTuple):
    """Something that may have been done: the URI of the record that says so, its words and when.
    A commit is done by itself; anything else must say that it was."""

    uri: str
    text: str
    time: str
    evidence: tuple[str, ...] = ()
    is_commit: bool = False


class _Sentence(NamedTuple):
    """What is to be done, or was done: what the verb does ("add", "remove"), the words that say
    what it is about, names of code, numbers, and whether all of something is meant. `head` are the
    first words after the verb of what was done."""

    verb: str
    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    is_all: bool
    head: tuple[str, ...] = ()


# The verbs of tasks and deeds by what they do. What is missing is to be added.
_VERBS = {
    "add": "add implement create introduce write build support provide wire enable include "
    "missing lack lacks absent",
    "remove": "remove delete drop clean strip disable purge",
    "fix": "fix repair resolve correct solve handle fails fail broken crashes leaks",
    "change": "rename move replace migrate update upgrade bump switch convert refactor split "
    "extract change rework improve adjust port merge restructure raise lower increase reduce",
    "publish": "release publish deploy ship push",
}
_VERB_OF = {stem(verb): sort for sort, verbs in _VERBS.items() for verb in verbs.split()}
# What a task asks for, and what a deed may have done to do it. A task that does not say asks for
# something new.
_DOES = {(verb, verb) for verb in _VERBS} | {
    ("", "add"), ("", "change"), ("", "publish"), ("add", "change"), ("fix", "change"),
}  # fmt: skip
_ALL = regex(
    r"\b(?:all|every|each|both|whole|entire|rest|remaining|fully|everywhere)\b", re.IGNORECASE
)
_PAST = (
    "added implemented created introduced wrote built supported provided wired enabled included "
    "removed deleted dropped cleaned stripped disabled purged fixed repaired resolved corrected "
    "solved handled renamed moved replaced migrated updated upgraded bumped switched converted "
    "refactored split extracted changed reworked improved adjusted ported merged restructured "
    "raised lowered increased reduced "
    "released published deployed shipped pushed documented tested covered configured completed "
    "finished"
).split()
_REPORTS = regex(
    rf"^\W*(?:(?:i|we)(?:['’]ve| have)? )?(?:(?:now|also|just|successfully) )?"
    rf"(?P<verb>{'|'.join(_PAST)})\b",
    re.IGNORECASE,
)
_STATES_DONE = regex(
    rf"\b(?:is|are|was|were|has been|have been) (?:now )?(?:fully )?(?P<verb>{'|'.join(_PAST)}|"
    r"done|complete|in place)\b",
    re.IGNORECASE,
)
# Before what is "done" or "updated": it is asked, checked or waited for, not reported.
_DEPENDENT = regex(
    r"\b(?:ensur\w+|make sure|check\w*|verif\w+|confirm\w*|that|once|when|until|whether|before|"
    r"after|how|where|which|who|what)\b",
    re.IGNORECASE,
)
# A subject in the style of conventional commits: "feat(uploader): add retry".
_COMMIT_TYPE = regex(r"^(?P<type>[a-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s*", re.IGNORECASE)
_COMMITTED = regex(r"^\W*committed(?:: | “)", re.IGNORECASE)
_AFTER_DEED = regex(r"”? in [\w./\\-]+\.\w+(?:, [\w./\\-]+)*(?: and \d+ more)?$")
_VERDICT = regex(r"; the tests (?:pass|still fail).*$")
# Says that it is not done, not all of it, or not yet.
_UNDONE = regex(
    r"\b(?:not|never|no|n['’]t|cannot|without|except|still|yet|remain\w*|partial\w*|partly|half|"
    r"begin|began|start(?:ed)?|todo|wip|draft|will|would|should|could|must|need\w*|plan(?:ned|s)?|"
    r"next|later|pending|skip\w*|revert\w*|instead|only|attempt\w*|tr(?:y|ied)|fail(?:s|ed|ing)?|"
    r"worked on|prepar\w+|groundwork|defer\w*|if|unless)\b|n['’]t\b",
    re.IGNORECASE,
)
# What is done for a task, but is not the task, unless the task names it.
_BESIDE = frozenset(
    map(
        stem,
        "test tests docs documentation readme changelog comment note issue ticket plan design spec "
        "proposal stub mock placeholder example log logging todo task benchmark fixture".split(),
    )
)
# Words that tasks are stated with: they tell that something is open, not what.
_FRAME = frozenset(
    map(
        stem,
        "todo task tasks item items remain remains remaining follow followup followups up next "
        "step steps later future pending open left missing still yet deferred scope work needed "
        "needs need required want should must will be done implemented added fixed currently now "
        "soon eventually action thing things way also lack lacks absent not none".split(),
    )
)
_LEAD = regex(
    r"^\W*(?:todo|next steps?|follow-?ups?|remaining(?: work| tasks?)?|open(?: tasks?)?|"
    r"still (?:open|to do)|later|future(?: work)?|not (?:yet )?done|out of scope)\W*:\s*",
    re.IGNORECASE,
)
_MAX_NAMES = 20
_NUMBER = regex(r"\d+(?:\.\d+)*")
# What a session was about, which stands in brackets behind a statement.
_SUBJECT = regex(r" \([^()]*(?:\([^()]*\)[^()]*)*…?\)?$")


class Closing(NamedTuple):
    """A task and the deed that closed it."""

    task: Task
    deed: Deed

    @property
    def status_change(self) -> StatusChange:
        """The task is superseded by the deed."""
        time, because = self.deed.time, self.deed.uri
        return StatusChange("memory", self.task.id, time, Status.SUPERSEDED, because)

    @property
    def ended(self) -> EndedStatement:
        """The words of the task end, wherever they were said."""
        return EndedStatement(
            "",
            0,
            0,
            _SUBJECT.sub("", self.task.text),
            self.task.time,
            self.deed.time,
            EndReason.SUPERSEDED,
            record=uri("memory", self.task.id),
            instead=self.deed.uri,
            now=_SUBJECT.sub("", self.deed.text),
        )


def read_tasks(memories: Iterable[Memory]) -> list[Task]:
    """The tasks among the memories of a bank."""
    return [
        Task(memory.id, memory.what, memory.when, memory.evidence_for)
        for memory in memories
        if memory.kind is Kind.TODO
    ]


def read_deeds(memories: Iterable[Memory], claims: Iterable[Claim]) -> list[Deed]:
    """What sessions report as done: their outcomes, their commits, and what agents say that they
    changed."""
    deeds = [
        Deed(uri("memory", memory.id), memory.what, memory.when, memory.evidence_for)
        for memory in memories
        if memory.kind is Kind.OUTCOME
    ]
    for claim in claims:
        is_commit = claim.text.startswith(signals.COMMITTED)
        is_report = claim.kind is ClaimKind.STATEMENT and not claim.by_person
        if claim.turn and (is_report or (is_commit and claim.kind is ClaimKind.AGREEMENT)):
            text = claim.text.removeprefix(signals.COMMITTED)
            exchange, turn = uri("exchange", claim.exchange), uri("turn", claim.turn)
            deeds.append(Deed(turn, text, claim.time, (exchange, turn), is_commit))
    return deeds


def find_closings(
    tasks: Iterable[Task], deeds: Iterable[Deed], time_of: Callable[[str], str]
) -> list[Closing]:
    """The tasks that were done, each with the first deed that did it after it was last stated.
    `time_of` gives the time of a turn by its URI, "" if there is none."""

    def said(one: Task | Deed) -> str:
        """When the last turn said it. An exchange may state a task and do it."""
        turns = (time_of(name) for name in one.evidence if name.startswith(_TURN))
        return max(turns, default="") or one.time

    wanted = [(task, read) for task in tasks if task.time and (read := _read_task(task.text))]
    if not wanted:
        return []
    done = [(d, one) for d in deeds if d.time for one in _read_deed(d.text, d.is_commit)]
    counts = Counter(word for _, one in (*done, *wanted) for word in one.words)
    total = len(done) + len(wanted)
    rare = _LIMITS.rare
    weights = {word: math.log(1 + total / max(rare, n)) for word, n in counts.items()}
    by_word: dict[str, list[tuple[Deed, _Sentence]]] = {}
    for deed, one in done:
        for word in one.words:
            by_word.setdefault(word, []).append((deed, one))
    found: list[Closing] = []
    for task, read in wanted:
        rarest = sorted(read.words, key=lambda word: (-weights[word], word))
        doing = {
            deed.uri: deed
            for word in rarest[: _LIMITS.index_words]
            for deed, one in by_word.get(word, ())
            if _is_done(read, one, weights)
        }
        stated = said(task) if doing else ""
        later = (deed._replace(time=said(deed)) for deed in doing.values())
        closing = [deed for deed in later if deed.time > stated]
        if closing:
            found.append(Closing(task, _first(closing)))
    return found


def _first(closing: Sequence[Deed]) -> Deed:
    """The first of some deeds; a memory of the same exchange tells more than a turn of it."""
    first = min(closing, key=lambda deed: (deed.time, deed.uri))
    said = [one for one in closing if one.uri.startswith(_MEMORY) and _share_exchange(one, first)]
    return min(said, key=lambda deed: (deed.time, deed.uri), default=first)


def _share_exchange(one: Deed, other: Deed) -> bool:
    return any(name.startswith(_EXCHANGE) for name in {*one.evidence} & {*other.evidence})


def _is_done(task: _Sentence, done: _Sentence, weights: Mapping[str, float]) -> bool:
    """Whether a sentence reports that a task was done."""
    if not task.numbers <= done.numbers or (done.words & _BESIDE) - task.words:
        return False
    if task.names and len(task.names & done.names) <= _LIMITS.shared_names * len(task.names):
        return False
    if done.verb and (task.verb, done.verb) not in _DOES:
        return False
    if task.is_all and not done.is_all:
        return False
    if len(done.words - task.words) > _LIMITS.surplus * len(task.words):
        return False
    if done.head and not task.words.intersection(done.head):
        return False
    shared = task.words & done.words
    whole = sum(weights[word] for word in task.words)
    covered = sum(weights[word] for word in shared)
    return len(shared) >= _LIMITS.min_words and covered >= _LIMITS.covered * whole


@lru_cache(maxsize=20_000)
def _read_task(text: str) -> _Sentence | None:
    """What a task is about; None if its words do not tell, or tell too much at once."""
    # A number in brackets may be a part of the task, not of what its session was about.
    numbers = _numbers(text)
    text = _LEAD.sub("", _SUBJECT.sub("", plain(text)))
    first, *others = sentences(text) or [text]
    if others and _content(first)[:1] and _content(first)[0] in _VERB_OF:
        text = first  # an order, and what is to be said about it
    stems = _content(text)
    about = frozenset(one for one in stems if one not in _FRAME and one not in _VERB_OF)
    if not _LIMITS.min_words <= len(about) <= _LIMITS.max_words:
        return None
    is_all = _ALL.search(text) is not None
    return _Sentence(_verb(stems), about, _names(text), numbers, is_all)


@lru_cache(maxsize=20_000)
def _read_deed(text: str, is_commit: bool) -> tuple[_Sentence, ...]:
    """The sentences of a text that report something as done."""
    is_commit = is_commit or _COMMITTED.match(text) is not None
    text = _COMMITTED.sub("", _VERDICT.sub("", _SUBJECT.sub("", plain(text))))
    read = (_read_report(one, is_commit) for one in sentences(_AFTER_DEED.sub("", text)))
    return tuple(one for one in read if one is not None)


def _read_report(sentence: str, is_commit: bool) -> _Sentence | None:
    if _UNDONE.search(sentence) or sentence.rstrip(' *`"”').endswith(("?", ":", "…")):
        return None
    starts_with_verb = is_commit or _REPORTS.match(sentence)
    stated = None if starts_with_verb else _STATES_DONE.search(sentence)
    if not starts_with_verb and (not stated or _DEPENDENT.search(sentence[: stated.start()])):
        return None
    typed = _COMMIT_TYPE.match(sentence) if is_commit else None
    after = _content(sentence[typed.end() :] if typed else sentence)
    # "docs" and "test" say that it is not the thing itself; other types say nothing.
    is_beside = typed is not None and stem(typed["type"].lower()) in _BESIDE
    before = _content(f"{typed['type'] * is_beside} {typed['scope'] or ''}") if typed else []
    head = [one for one in after if one not in _VERB_OF and one not in _FRAME]
    return _Sentence(
        _verb(after),
        frozenset(one for one in (*before, *after) if one not in _VERB_OF),
        _all_names(sentence),
        _numbers(sentence),
        _ALL.search(sentence) is not None,
        tuple(head[: _LIMITS.head_words]) if starts_with_verb else (),
    )


def _content(text: str) -> list[str]:
    """The stems of a text in order, without stop words."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def _verb(stems: Iterable[str]) -> str:
    return next((verb for one in stems if (verb := _VERB_OF.get(one))), "")


def _names(text: str) -> frozenset[str]:
    """The names of code in a text, of files without folder, without differences of spelling."""
    names = (name.rpartition("/")[2] for name in code_names(text, _MAX_NAMES))
    return frozenset(map(fold_name, names))


def _all_names(text: str) -> frozenset[str]:
    """The same, and what a name stands for after its module or class."""
    own = (name.rpartition(".")[2] for name in code_names(text, _MAX_NAMES))
    return _names(text) | frozenset(map(fold_name, own))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
