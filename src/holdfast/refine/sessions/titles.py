"""What a session was about: its own title where the transcript has one, else how a model titled its
beginning, else the pull request or commit it made, else its first request. Where that says little,
the name of the branch that was made for it, or what the agent said of the result, stands behind it
or in its place: later requests are about details."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from holdfast.language import (
    capitalize,
    collapse_spaces,
    content_stems,
    is_chatter,
    sentences,
    truncate,
    without_bold,
)
from holdfast.model.records import Exchange, Outcome, Session
from holdfast.refine.core.signals import COMMITTED, PULL_REQUESTED, is_commit, is_pull_request
from holdfast.refine.requests.given_titles import given_title
from holdfast.refine.requests.headlines import COMMAND, short_links
from holdfast.refine.requests.telling_words import (
    EMPTY,
    MIN_STEMS,
    WITHOUT_SPACES,
    says_something,
    telling_stems,
)
from holdfast.refine.sessions.exchanges import NO_REQUEST, RESULT
from holdfast.regex import regex

# With this many stems a request needs no result; with fewer than the second it only names a thread.
_ENOUGH_STEMS = 4
_NAMING_STEMS = 2
# More commits or pull requests than this are about more than one matter.
_MAX_CHANGES = 2
# What is changed in the first exchanges is what was asked for, and a session of few is about one
# matter.
_EARLY_EXCHANGES, _FEW_EXCHANGES = 2, 4
# Words that make the name of a branch a title.
_BRANCH_WORDS = 3
# A result gets longer than a title should be.
_MAX_RESULT_CHARS = 120
# So long may a request and its result be together; each keeps what is left of a title by the other.
_MAX_JOINED_CHARS = 137
_MAX_ASKED_CHARS = 90
_MIN_RESULT_CHARS = 60
# Of a sentence with fewer stems than this the chance that they recur is high.
_FULL_SENTENCE_STEMS = 5
# What is no result: the summary of an exchange without a reply, that tests pass, what would be done
# or follow from it, where a commit is, what the agent is about to do, what it thinks of a report.
_NO_RESULT = regex(
    r"^(?:Changed |ran |then |option \d|\W*lines? \d|"
    r"\W*(?:good|minor|nit|question|observation|issue) [:–—-])|\btests? (?:all |now )?pass|"
    r"\b(?:would|could|might|should)\b|"
    r"^(?:(?:fixed|done|all)\W+)*(?:committed|pushed|amended|merged)(?: and pushed)? "
    r"(?:as|to|in|into|on|with)\b|"
    r"^(?:(?:now|next|first|then|ok(?:ay)?|so|good)[,.]? )*"
    r"(?:I(?:['’]ll|['’]m| will| am)|let me|let['’]s)\b|:$|"
    r"^(?:(?:yes|yeah|no)\W+)?I (?:think|agree|believe|feel)\b|"
    r"^(?:(?:the|this|your) )?(?:report|diagnosis|analysis|statement|discussion|request)\b.{0,30}"
    r"\b(?:is|are|looks?|seems?|match\w*) ",
    re.IGNORECASE,
)
# What only accounts for the work: "Branch: `fix/login`", "1,727 tests passed", "Tool use: grep",
# "`login.py`: a new field".
_ACCOUNT = regex(
    r"^(?:(?:ready|draft|discussion|lint|next|tool|read) )?"
    r"(?:branch|commits?|tests?|checks?|prs?|pull requests?|reply|use|file|steps?|lint)\b"
    r"[^:.]{0,24}:|"
    r"^(?:opened|created|updated|pushed|replied|pr opened|full|targeted)\b.{0,24}"
    r"(?:\bprs?\b|\bpull request|\bbranch|\bdiscussion|\btests?\b|#\d)|"
    r"^\W*[\w./\\-]+\.[a-z]{1,5}(?::[\d-]+)?`?\**(?: \([^)]*\))?(?::| [—–-]) |"
    r"^\d+ [\w ]*tests?\b|^`[^`]*`$|\b(?:passed|passes|passing|green)\W*$",
    re.IGNORECASE,
)
_CHECKBOX = regex(r"^\[[ x-]\] ")
# How a reply names the commit or pull request of the work: "PR #12: fix(login): keep the token".
_NAMED_CHANGE = regex(
    r"(?<![\w/-])(?:feat|fix|refactor|perf|docs|build|ci)(?:\([\w ,./-]+\))?!?: "
    r"(?P<subject>[^\s`\[(][^`;\]\n\"]{8,90}?)(?=[.…]?(?:$|[`;\]\n\"]))"
)
# What agents put behind the name of a branch to make it unique.
_BRANCH_SUFFIX = regex(r" [0-9a-f]{6,}$")
_BRANCH_JOINTS = regex(r"[-_/]+")
_BROKEN_OFF = frozenset((Outcome.INTERRUPTED, Outcome.OPEN))
_THREAD = regex(
    r"(?:\b(?:issue|discussion|PR|pull request|merge request) )?"
    r"(?:[\w.-]+/[\w.-]+)?(?P<number>#\d+)",
    re.IGNORECASE,
)


# A command of the agent with what it was given, before what came of it: "/pr-review 151: …".
_SLASH_COMMAND = regex(r"^/[\w:-]*[\w-](?: +#?[\w./#-]{1,30}){1,2}(?=: |$)")
# What OpenCode puts behind the title of a subagent, and how the help of a command names choices.
_SUBAGENT = regex(r" \(@[\w-]+ subagent\)$")
_USAGE = regex(r"\[\w+(?:\|\w+)+\]")


def session_subject(session: Session, exchanges: Sequence[Exchange]) -> str:
    """What a session was about, in a few words; "" if it has none."""
    return (
        _own_title(session)
        or without_bold(_subject(session, exchanges))
        or given_title(session.title)
    )


def asked_subject(session: Session, exchanges: Sequence[Exchange]) -> str:
    """The title of a session in the transcript, its commit or its request; "" if it has none. What
    the agent said of a result is one of many, and no subject of the others."""
    return _own_title(session) or without_bold(_request_and_result(session, exchanges)[0])


def session_title(session: Session, exchanges: Sequence[Exchange]) -> str:
    """The title of a session: its own and what it was about."""
    own, about = _own_title(session), _subject(session, exchanges)
    if own and about and own.lower() not in about.lower():
        return f"{own} — {about}"
    return about or given_title(session.title)


def _own_title(session: Session) -> str:
    """The title in the transcript; "" for one that fits every session ("GitHub issue analysis") and
    for the help of a command."""
    own = _SUBAGENT.sub("", given_title(session.title))
    if _USAGE.search(own):
        return ""
    return own if telling_stems(own) or WITHOUT_SPACES.search(own) else ""


def _subject(session: Session, exchanges: Sequence[Exchange]) -> str:
    asked, result = _request_and_result(session, exchanges)
    if asked and result:
        return _of_thread(asked, result) or _joined(asked, result)
    if asked or result:
        return asked or result
    later = (x.title for x in exchanges if says_something(x.title))
    return next(later, exchanges[0].title if exchanges else "")


def _joined(asked: str, result: str) -> str:
    """A request and its result, both shortened where they are too long together."""
    if len(asked) + len(result) > _MAX_JOINED_CHARS:
        asked = truncate(asked, _MAX_ASKED_CHARS)
        result = truncate(result, max(_MIN_RESULT_CHARS, _MAX_JOINED_CHARS - len(asked)))
    return f"{asked} — {result}"


def _of_thread(asked: str, result: str) -> str:
    """The result and the thread that it was asked for in: "Long names are unpacked (issue #12)"; ""
    for a request that tells more than a thread's number."""
    thread = _THREAD.search(asked)
    if thread is None or len(telling_stems(asked)) >= _NAMING_STEMS:
        return ""
    return result if thread["number"] in result else f"{result.rstrip('.')} ({thread[0]})"


def _request_and_result(session: Session, exchanges: Sequence[Exchange]) -> tuple[str, str]:
    """The pull request, the commit or the request that says what a session is about, and what was
    said of its result where that says too little; "" for what there is not."""
    first = exchanges[0].title if exchanges else ""
    if exchanges and exchanges[0].author:
        return first, ""
    is_command = COMMAND.match(first) is not None
    if subject := _change(exchanges):
        is_other = not (is_command or _own_title(session)) and _is_of_later(subject, exchanges)
        return (first, subject) if is_other else (subject, "")
    request = first if says_something(first) and not is_command else ""
    if request and not _needs_result(request):
        return request, ""
    if not request and not is_command and (telling_stems(first) or _names_thread(first)):
        request = first
    if slash := _SLASH_COMMAND.match(first):
        request = slash[0].rstrip(": ")
    return request, _named_by_branch(session, exchanges) or _result(exchanges)


def _named_by_branch(session: Session, exchanges: Sequence[Exchange]) -> str:
    """What the branch that was made in a session is named after: "fix/lost-long-names" is "Lost
    long names"; "" if there is none, or several."""
    made = {x.branch: None for x in exchanges if x.branch not in ("", session.branch)}
    if not 0 < len(made) <= _MAX_CHANGES:
        return ""
    name = next(iter(made)).partition("/")
    words = _BRANCH_SUFFIX.sub("", _BRANCH_JOINTS.sub(" ", name[2] or name[0]).strip())
    if len(words.split()) < _BRANCH_WORDS or len(telling_stems(words)) < _NAMING_STEMS:
        return ""
    return capitalize(words)


def _change(exchanges: Sequence[Exchange]) -> str:
    """The title of the session's pull request, or the subject of its commit; "" if it has none, or
    several of them. A title that was changed is the last; the first commit is that of the work."""
    facts = [fact for exchange in exchanges for fact in exchange.facts]
    pulls = [fact.removeprefix(PULL_REQUESTED) for fact in reversed(facts) if is_pull_request(fact)]
    commits = [fact.removeprefix(COMMITTED) for fact in facts if is_commit(fact)]
    for changes in (list(dict.fromkeys(pulls)), commits or _named_changes(exchanges)):
        if len(changes) <= _MAX_CHANGES and (subject := next(filter(_is_subject, changes), "")):
            return subject
    return ""


def _named_changes(exchanges: Sequence[Exchange]) -> list[str]:
    """The subjects of commits and pull requests that replies name, each once."""
    found = (
        collapse_spaces(match.group())
        for exchange in exchanges
        for match in _NAMED_CHANGE.finditer(exchange.summary)
        if says_something(match["subject"])
    )
    return list(dict.fromkeys(found))


def _is_of_later(subject: str, exchanges: Sequence[Exchange]) -> bool:
    """Whether a change was made late in a session, and in other words than what was asked first: it
    is one of several matters."""
    stems = telling_stems(exchanges[0].title)
    if len(exchanges) <= _FEW_EXCHANGES or len(stems) < _NAMING_STEMS:
        return False
    if not says_something(exchanges[0].title):
        return False
    early = exchanges[:_EARLY_EXCHANGES]
    is_early = any(subject in fact for one in early for fact in (*one.facts, one.summary))
    return not is_early and stems.isdisjoint(telling_stems(subject))


def _needs_result(request: str) -> bool:
    """Whether a request does not tell enough by itself: a question, or a few words."""
    return request.endswith(("?", "？")) or 0 < len(telling_stems(request)) < _ENOUGH_STEMS


def _names_thread(request: str) -> bool:
    """Whether a request names an issue or a pull request: "Investigate issue #12"."""
    return _THREAD.search(request) is not None and not EMPTY.match(request)


def _is_subject(message: str) -> bool:
    """Whether the subject of a commit says what it is about: "wip" and "fix" do not."""
    return len(content_stems(message)) >= MIN_STEMS and not EMPTY.match(message)


def _without_accounts(summary: str) -> Iterator[str]:
    """The sentences of a summary, without what in them only accounts for the work."""
    for sentence in sentences(summary):
        parts = (_CHECKBOX.sub("", part) for part in sentence.split("; "))
        yield "; ".join(part for part in parts if not _ACCOUNT.search(part))


def _result(exchanges: Sequence[Exchange]) -> str:
    """Of several commits the one that most of the session is about, or else what was said of the
    results, as one sentence; "" for none."""
    exchanges = [x for x in exchanges if x.title != NO_REQUEST]
    told = Counter(
        one for x in exchanges for one in telling_stems(x.title) | telling_stems(x.summary)
    )
    commits = (f.removeprefix(COMMITTED) for x in exchanges for f in x.facts if is_commit(f))
    if made := max(filter(_is_subject, commits), key=partial(_share_told, told), default=""):
        return truncate(made, _MAX_RESULT_CHARS)
    finished = [x for x in exchanges if x.outcome not in _BROKEN_OFF] or exchanges
    best = _most_told([x.summary for x in finished], told)
    if not best:
        replies = [short_links(x.details.partition(f"\n{RESULT}")[2]) for x in finished]
        told.update(one for reply in replies for one in telling_stems(reply))
        best = _most_told(replies, told)
    return truncate(without_bold(short_links(best)), _MAX_RESULT_CHARS)


def _most_told(texts: Iterable[str], told: Counter[str]) -> str:
    """The sentence of these texts whose stems are told most often; "" if none states a result."""
    best, highest = "", 0.0
    found = (one for text in texts for one in _without_accounts(short_links(text)))
    for sentence in found:
        if is_chatter(sentence) or _NO_RESULT.search(sentence) or not says_something(sentence):
            continue
        worth = _share_told(told, sentence)
        if worth > highest:
            best, highest = sentence, worth
    return best


def _share_told(told: Counter[str], sentence: str) -> float:
    """How much of what a session is about is in a sentence; less in one of a few words."""
    stems = telling_stems(sentence)
    share = min(1.0, len(stems) / _FULL_SENTENCE_STEMS)
    return share * sum(math.log1p(told[one]) for one in stems) / max(1, len(stems))
