"""Query expansion: abbreviations and synonyms of software development, and names of code.

The tables are chosen by hand and conservative: a wrong synonym finds the wrong thing, a missing one
leaves the query as it was. `exact_names` finds the names of code in a query, which are also
searched as a whole. Nothing here depends on what is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain, zip_longest

from holdfast.language import code_names, stem
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

# Each term makes the full-text query slower; a query of few words never reaches these.
MAX_ADDED_TERMS = 24
MAX_NAMES = 8
MAX_NAME_LENGTH = 120
# Of a longer query this much of the start and of the end is read.
_MAX_CHARACTERS = 20_000


class Expansion(StrEnum):
    """What a query finds besides its words as they are given: nothing; their other forms and
    abbreviations; or synonyms too."""

    NONE = "none"
    MINIMAL = "minimal"
    FULL = "full"


# One abbreviation a line, with what it stands for; used in both directions.
ABBREVIATIONS = """
a11y: accessibility
admin: administrator
app: application
arch: architecture
arg: argument
async: asynchronous
attr: attribute
auth: authentication
authn: authentication
authz: authorization
bool: boolean
cd: continuous delivery, continuous deployment
char: character
ci: continuous integration
cli: command line
cmd: command
col: column
config: configuration
cpu: processor
ctx: context
db: database
deps: dependencies
dev: development
dir: directory
doc: documentation
dto: data transfer object
e2e: end to end
env: environment
err: error
exec: execute
fn: function
func: function
fts: full text
gc: garbage collection
i18n: internationalization
id: identifier
ide: editor
impl: implementation
infra: infrastructure
init: initialization
int: integer
js: javascript
jwt: json web token
k8s: kubernetes
l10n: localization
lang: language
lib: library
llm: language model
lru: least recently used
mem: memory
msg: message
mr: merge request
mvp: minimum viable product
nav: navigation
o11y: observability
oom: out of memory
os: operating system
param: parameter
perf: performance
pg: postgres
pkg: package
poc: proof of concept
postgres: postgresql
pr: pull request
prod: production
py: python
qa: quality assurance
rc: release candidate
ref: reference
regex: regular expression
repo: repository
req: request
resp: response
rfc: request for comments
rpc: remote procedure call
sdk: development kit
spec: specification
ssr: server side rendering
sso: single sign on
stdlib: standard library
sync: synchronization
tls: ssl
tz: timezone
tmp: temporary
ts: typescript
tx: transaction
ui: user interface
utf8: unicode
ux: user experience
val: value
var: variable
vm: virtual machine
wal: write ahead log
ws: websocket
yml: yaml
"""

# Synonyms, one group a line; words after ">" are added for the group, but not the other way round.
SYNONYMS = """
add, insert, append
annotation, comment, remark
approach, strategy
back end, backend
backend > server
backup, snapshot
batch, bulk
begin, start > launch, boot, serve
broken > corrupt, corrupted, invalid, malformed
bug, defect, issue > error
build, compile
bump, upgrade
cache, memoize
cancel, abort
change, modify, edit
check, verify, validate > lint, doctor
choose, pick, select
clean, tidy
cleanup, clean up
clone, copy
colour, color > palette
combine, join, merge
conceal, hide, hidden
concurrency, parallelism
concurrent, parallel
configure, set up > init, setup, config
convert, transform
corrupt, corrupted, invalid, malformed
crash > exception, failure, panic
create, generate
credential > password, token, secret
dark mode, dark theme
deadlock > lock, hang
deploy, release, ship > publish, roll out
deprecated, obsolete
diagnose > doctor, status, check
directory, folder > dir, workspace
disable, turn off
docker > container
download, fetch > pull
duplicate, copy
email, mail
enable, turn on
encrypt > cipher
endpoint, route
enumerate, list > ls
error, exception, failure
example, sample, template
expire, expiry, ttl
fail > failure, error
faster > speed, performance
file name, filename
finished, completed, done
fix, repair, resolve
flaky, intermittent
freeze, hang
front end, frontend
function, method
helper, utility
improve, optimize
install, setup > set up, bootstrap
job, task
keyboard shortcut, hotkey
launch, boot > start, serve, run
limit, maximum, cap
log in, login, sign in
log out, logout, sign out
metric, measurement
missing, absent
mock, stub
monitor, observe, watch
move, relocate
notify, notification, alert
option, flag, setting
outdated, stale
password, passphrase
payment, billing
permission > access
plan, roadmap
plugin, extension, addon
popup, dialog, modal
problem, issue, trouble
program, application > binary, executable
protect, secure > auth, authentication
publish, upload > push, sync, release
quick, fast
race > concurrency, race condition
rate limit, throttle
refactor, restructure, rewrite
reload, restart > watch
remove, delete, drop > uninstall, erase, purge, rm
render, display
render, renderer
retry > backoff, attempt
revert, undo, rollback, roll back
schedule, cron
search, lookup
send, emit
set up, setup > install, init
sign up, register
simultaneous > concurrent, parallel
slow > performance, latency
speed, performance
stop, halt > kill, terminate, shut down
store, persist, save
sum, total
sync, synchronize
tag, label
test, spec
ticket, issue
timeout, deadline
todo > next step, remaining
traceback, stack trace
tutorial, guide
type check, typing
typo, misspelling
uninstall > remove, delete
unzip, extract, unpack
update, upgrade
version > release
webhook, callback
workaround, hack
"""


_Table = dict[str, list[tuple[str, list[str]]]]
# A stem keeps these letters of every term, so only the terms that begin like a word are stemmed:
# all of them would take 6 ms.
_PREFIX = 2


class Alternative(NamedTuple):
    """Another term for some words of a query, both by their stems."""

    replaced: frozenset[str]
    term: tuple[str, ...]


def expand(words: Sequence[str], how: Expansion) -> tuple[str, ...]:
    """Terms to search for besides these words, at most `MAX_ADDED_TERMS`, each a word or a phrase
    whose stem is not among the words. Every word gets its first synonym before any gets a
    second."""
    present = {stem(word.lower()) for word in words}
    found = [terms for _, terms in _terms_by_run(words, how)]
    added: dict[str, str] = {}
    for term in chain(*zip_longest(*found)):
        if term and not set(_key(term).split()) <= present:
            added.setdefault(_key(term), term)
    return tuple(added.values())[:MAX_ADDED_TERMS]


def alternatives(words: Sequence[str], how: Expansion) -> tuple[Alternative, ...]:
    """The terms by which a text may say words of a query without having them."""
    found = [
        Alternative(frozenset(_key(run).split()), tuple(_key(term).split()))
        for run, terms in _terms_by_run(words, how)
        for term in terms
    ]
    return tuple(dict.fromkeys(found))


def _terms_by_run(words: Sequence[str], how: Expansion) -> list[tuple[str, list[str]]]:
    """Each word, and each two or three in a row, with the other terms for it."""
    if how is Expansion.NONE:
        return []
    tables = [_read_table(ABBREVIATIONS)] + [_read_table(SYNONYMS)] * (how is Expansion.FULL)
    return [
        (run, [term for table in tables for term in _synonyms_of(table, run)])
        for run in dict.fromkeys(_runs([word.lower() for word in words]))
    ]


def _runs(words: Sequence[str]) -> Iterator[str]:
    """Each word, and each two or three in a row, such as `pull request`."""
    for at in range(len(words)):
        for after in range(at + 1, min(at + 3, len(words)) + 1):
            yield " ".join(words[at:after])


def _synonyms_of(table: _Table, form: str) -> Iterator[str]:
    """The synonyms of a term in any of its forms. By the stem alone `set` would be a form of
    `setting` and `author` one of `authorization`, so a form must not be shorter than the term."""
    key = _key(form)
    for term, others in table.get(key[:_PREFIX], ()):
        if len(form) >= len(term) - 1 and _key(term) == key:
            yield from others


@cache
def _read_table(lines: str) -> _Table:
    """A table by the first letters of its terms. Read when first needed, not at start-up."""
    table: _Table = {}
    for line in lines.strip().splitlines():
        left, _, right = line.partition(" > ")
        group = left.replace(":", ",").split(", ")
        added = right.split(", ") if right else []
        for term in group:
            others = [other for other in (*group, *added) if other != term]
            table.setdefault(term[:_PREFIX], []).append((term, others))
    return table


def _key(term: str) -> str:
    return " ".join(map(stem, term.split()))


_QUOTED = regex(
    r"`([^`\n]{2,400})`|\"([^\"\n]{2,400})\"|“([^“”\n]{2,400})”|(?<!\w)'([^'\n]{2,400})'(?!\w)"
)
_ERROR_LINE = regex(
    r"^[ \t]*(?:Uncaught |Unhandled |Caused by: |Exception in thread \"[^\"\n]{0,80}\" )?"
    r"((?:[\w.$]{0,80}(?:Error|Exception|Warning|Interrupt|Exit)(?=:|[ \t]*$)|panic:|fatal error:|"
    r"error(?:\[E\d+\]| TS\d+):)[^\n]*)",
    re.MULTILINE,
)
# One of them is in every match of the pattern above.
_ERROR_SIGNS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "panic:", "error")
_TRACEBACK_FRAME = regex(r"^(?:[ \t]+\S|Traceback |goroutine ).*$\n?", re.MULTILINE)
_UPPER_CASE = regex(r"\b[A-Z][A-Z0-9]{5,}\b")
_FILE_LINE = regex(r"(\.[A-Za-z]\w*)(?::\d+)+$")
_NOT_NAMES = frozenset("and/or e.g i.e he/she yes/no a.m p.m w.r.t".split())


def exact_names(query: str) -> tuple[str, ...]:
    """What should also be searched as a whole: the error line of a pasted traceback, quoted text,
    paths and file names, identifiers. At most `MAX_NAMES`, the surest first."""
    text = (
        query
        if len(query) <= 2 * _MAX_CHARACTERS
        else f"{query[:_MAX_CHARACTERS]}\n{query[-_MAX_CHARACTERS:]}"
    )
    found = [*_error_line(text)]
    if found:
        # The frames of a traceback name everything but its cause.
        text = _TRACEBACK_FRAME.sub("", text)
    quoted = ("".join(match.groups("")) for match in _QUOTED.finditer(text))
    # Quotes around a single plain word only stress it.
    found += (inner for inner in quoted if " " in inner.strip() or code_names(inner))
    for name in code_names(text, MAX_NAMES * 2):
        if name.lower() not in _NOT_NAMES:
            found += _with_file_name(_FILE_LINE.sub(r"\1", name))
    found += _UPPER_CASE.findall(text)
    whole = (_cut_at_word(" ".join(name.split())) for name in found)
    return tuple(dict.fromkeys(name for name in whole if name))[:MAX_NAMES]


# Names that stand out by their marks: a call, a word as code, a flag, a relative path, an issue's
# key, an error's code, a constant, a hash.
_MARKED = regex(
    r"\b([A-Za-z_]\w{2,})\(\)|`([\w./:@#-]{2,120})`|(?<!\S)(--[a-z][\w-]*\w)|"
    r"(?<![\w.])(\.{1,2}/[\w./-]*\w)|\b([A-Z]{2,10}-\d{1,6}|[A-Z]{1,10}\d{2,6}|[A-Z]{5,})\b|"
    r"\b((?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})\b"
)
# Two plain words with a hyphen between them are mostly prose.
_HYPHENATED = regex(r"[A-Za-z]+-[A-Za-z]+")


def identifiers(query: str) -> tuple[str, ...]:
    """The names in a query that a text holds exactly or not at all: of code, paths, flags,
    versions, codes of errors, keys of issues, hashes."""
    text = query[:_MAX_CHARACTERS]
    marked = ["".join(match.groups("")) for match in _MARKED.finditer(text)]
    named = [name for name in exact_names(text) if not _HYPHENATED.fullmatch(name)]
    found = dict.fromkeys(name for name in (*marked, *named) if " " not in name)
    return tuple(found)[:MAX_NAMES]


def _error_line(text: str) -> list[str]:
    """The line that names the error: the last of a Python traceback, else the first."""
    if not any(sign in text for sign in _ERROR_SIGNS):
        return []
    lines = [match[1] for match in _ERROR_LINE.finditer(text)]
    return lines[-1:] if "Traceback (most recent" in text else lines[:1]


def _with_file_name(name: str) -> tuple[str, ...]:
    """A path, and the bare name of its file: in another clone the path may differ."""
    base = name.rpartition("/")[2]
    return (name, base) if base != name and "." in base[1:-1] else (name,)


def _cut_at_word(name: str) -> str:
    """A name shortened at a word boundary if it has one."""
    if len(name) <= MAX_NAME_LENGTH:
        return name
    head = name[: MAX_NAME_LENGTH + 1].rpartition(" ")[0]
    return head or name[:MAX_NAME_LENGTH]
