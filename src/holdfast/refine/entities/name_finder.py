"""Names in texts: paths, identifiers, packages, people, issues, commits, and what prose calls them.

By rules alone, so that the same text always has the same names. What is found is not yet known to
be anything: `refine.resolve` tells which of them mean the same, and which mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.language import STOPWORDS, file_word, folded, humps
from holdfast.model.graph import Mention, Part, Same, Sort

_URL = re.compile(r"\b\w+://\S+")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EXTENSIONS = (
    "py|pyi|tsx?|jsx?|mjs|cjs|go|rs|java|kt|swift|rb|php|cs|cpp|cc|hpp|[ch]|sh|sql|css|scss|html|"
    "vue|svelte|md|mdx|toml|json|jsonl|ya?ml|ini|cfg|lock|txt|ipynb|tf|proto|graphql|gradle|xml|env"
)
_PATH = re.compile(
    rf"(?<![\w@/.:-])(?:~?/|\.{{1,2}}/)?(?:[\w@.+-]+/)*[\w@+-][\w@.+-]*\.(?:{_EXTENSIONS})"
    r"(?![\w/-]|\.\w)"
)
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_CALL = re.compile(r"\(.*\)$")
_IDENTIFIER = re.compile(r"^[A-Za-z_$@][\w$]*(?:(?:\.|::|-|/)[A-Za-z_$@][\w$]*)*$")
_HUMPED = re.compile(
    r"(?<![\w./`-])(?:[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+|"
    r"[A-Za-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)(?![\w/-])"
)
_ISSUE = re.compile(
    r"(?<![\w&/#])(?:(?<![Tt]ask )(?<![Tt]asks )(?<![Ss]tep )#(\d{1,6})|"
    r"GH-(\d{1,6})|([A-Z][A-Z]{1,9}-\d{1,6}))\b"
)
_NO_ISSUE = re.compile(
    r"^(?:UTF|SHA|ISO|RFC|GPT|MD|AES|RSA|HTTP|TLS|IPV|ES|CVE|PEP|X|ECMA|BASE|COVID|GB|USB|CSS|UTC|"
    r"GMT|HS|RS|ED|P|L|H|V|PR|MIT|BSD)-"
)
_COMMIT = re.compile(
    r"\b(?:commits?|revision|sha|reverts?|fixes:?|cherry[- ]picked from(?: commit)?)\s+`?"
    r"([0-9a-f]{7,40})\b",
    re.IGNORECASE,
)
_PERSON_LINE = re.compile(
    r"^(?:co-authored-by|signed-off-by|reviewed-by|reported-by|acked-by|suggested-by):\s*"
    r"([^<\n]{2,60}?)\s*<([^>\s]+@[^>\s]+)>",
    re.IGNORECASE | re.MULTILINE,
)
_INSTALL = re.compile(
    r"\b(?:pip3?|uv(?: pip)?|pipx|npm|pnpm|yarn|bun|cargo|gem|brew|poetry|apt(?:-get)?)\s+"
    r"(?:install|add|i)\s+([^\n;&|]{2,200})"
)
_PACKAGE = re.compile(r"^(?:@[\w.-]+/)?[A-Za-z][\w.-]*")
_MOVED = re.compile(r"\bgit mv\s+(?:-\w+\s+)*(\S+)\s+([^\s;&|]+)")
_PROPER = re.compile(r"(?<=[a-z,;)] )([A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2})\b(?![.:(]\w)")
_PHRASE = re.compile(
    r"\b(?:the|our|this|that|its|their|your|my)\s+([a-z][a-z0-9]+(?:[ -][a-z][a-z0-9]+){1,2})\b"
)
_WORD_BORDER = re.compile(r"[ -]")

# What every project has: alone these name nothing, and no file of that name is meant by the word.
GENERIC = frozenset(
    "test tests index main data util utils config configs settings setup app init types type "
    "helper helpers common base core model models readme license changelog package makefile server "
    "client name value values string number object list dict item items key keys error errors "
    "file files path paths function method class module node user users id ids true false none "
    "null self this args kwargs result results response request src lib bin dist build docs doc "
    "example examples todo api cli git npm npx pip python node bash sh cd ls cat grep rg sed awk "
    "echo find curl make run start stop dev prod debug info warn warning log logs status default "
    "int str bool float any void const let var import export from return async await claude agent "
    "assistant human system tool tools input output text content title description version "
    "found issue issues context enabled disabled trusted format formats rule rules instructions "
    "summary appdata conftest schema constants enums plan task tasks skill skills command commands "
    "read write edit "
    "glob task webfetch websearch todowrite multiedit session sessions taskupdate tasklist "
    "taskcreate taskget sendmessage teamcreate exitplanmode enterplanmode askuserquestion "
    "in_progress inprogress undefined completed pending github typescript javascript "
    "general-purpose run_in_background subagent_type file_path old_string new_string".split()
)
_DULL = frozenset(
    "same following new first last next current existing other others right wrong whole entire "
    "actual full main previous second third different above below given correct final best only "
    "real rest way ways thing things time times case cases part parts kind end start beginning top "
    "bottom point fact moment user users code file files line lines change changes issue issues "
    "problem problems error errors fix bug result results test tests function method class value "
    "values project repo repository work task tasks step steps command output input name names "
    "one two three four five old latest original specific exact single simple default proper "
    "appropriate necessary relevant various entire overall general particular left right key "
    "important most more less least many few several pull request approach option options idea "
    "question answer example examples section plan summary list text word words number".split()
)
_TELLING = frozenset(
    "is are was were be been has have had do does did will would can could should may might must "
    "need needs work works fail fails failed get gets got run runs make makes use uses used come "
    "comes came go goes went look looks seem seems return returns returned handle handles show "
    "shows already now also then still just too again not never always currently".split()
)
_NOT_PROPER = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december yes no okay thanks please note todo let "
    "the this that these those here there now then next first also done good great perfect "
    "read write edit bash grep glob task agent tool claude user assistant error warning modify "
    "modified changed added removed updated created deleted enter impact phase update create "
    "delete remove click open close save run add fix step see use make set get check test key "
    "option part high low medium new old full yes not only all any each both when where what "
    "which how why who figure table section chapter example summary overview input output returns "
    "found ctrl alt shift critical important optional required enabled disabled".split()
)
_NOT_PEOPLE = re.compile(
    r"\[bot\]|\bbot\b|^claude\b|noreply@anthropic|dependabot|github-actions", re.I
)
_LONGEST = 90


def names_in(text: str) -> Iterator[Mention]:
    """The names of a text, in no order; one that stands there twice comes twice."""
    text = _URL.sub(" ", text)
    for match in _PATH.finditer(text):
        yield from _path(match.group())
    for match in _QUOTED.finditer(text):
        yield from _quoted(match.group(1))
    bare = _PATH.sub(" ", _QUOTED.sub(" ", _FENCE.sub(" ", text)))
    for match in _HUMPED.finditer(bare):
        yield from _name(match.group())
    for match in _ISSUE.finditer(bare):
        yield from _issue(match)
    for match in _COMMIT.finditer(text):
        yield commit_mention(match.group(1))
    for match in _PROPER.finditer(bare):
        yield from _proper(match.group(1))
    for match in _PHRASE.finditer(bare):
        yield from _phrases(match.group(1))


def _path(path: str) -> Iterator[Mention]:
    path = path.removeprefix("./").rstrip(".")
    if "." in path.rpartition("/")[0].rpartition("/")[2][1:]:
        return  # two files with a slash between them
    if len(path) <= 200 and not path.startswith(".."):
        yield Mention(Sort.PATH, path, file_word(path))


def file_mention(path: str, parts: Part = Part.MENTIONED) -> Mention:
    """A file that a tool or a commit touched."""
    path = path.replace("\\", "/").removeprefix("./")
    return Mention(Sort.FILE, path, file_word(path), parts)


def told_mention(name: str) -> Mention:
    """A component that somebody says is one."""
    return Mention(Sort.NAME, name, folded(name))


def commit_mention(sha: str, parts: Part = Part.MENTIONED) -> Mention:
    """A commit, by the seven digits that people quote."""
    short = sha.lower()[:7]
    return Mention(Sort.COMMIT, short, short, parts)


def _quoted(text: str) -> Iterator[Mention]:
    """What stands between backticks, if it is one name."""
    bare = _CALL.sub("", text.strip()).lstrip("@$")
    if _PATH.fullmatch(bare) or not _IDENTIFIER.match(bare):
        return
    # One plain word may be any word; called, or with a capital or a digit, it is a name.
    if bare != text.strip() or not bare.isalpha() or not bare.islower():
        yield from _name(bare)


def _name(text: str) -> Iterator[Mention]:
    last = re.split(r"\.|::|/", text)[-1] if "/" not in text else text
    text = last if last and len(last) > 2 else text
    key = folded(text)
    if text.startswith("_") and not is_compound(text):
        return
    if (
        len(key) >= 4
        and text.lower() not in GENERIC
        and key not in GENERIC
        and len(text) <= _LONGEST
    ):
        yield Mention(Sort.NAME, text, key)


def _issue(match: re.Match[str]) -> Iterator[Mention]:
    number, other, ticket = match.groups()
    if ticket and _NO_ISSUE.match(ticket):
        return
    text = ticket or f"#{number or other}"
    yield Mention(Sort.ISSUE, text, text.lower())


def _proper(text: str) -> Iterator[Mention]:
    said = text.lower().split()
    while said and said[0] in _NOT_PROPER | STOPWORDS:
        said = said[1:]
        text = text.partition(" ")[2]
    if said and not all(word in GENERIC | _DULL | _NOT_PROPER for word in said):
        yield Mention(Sort.PROPER, text, folded(text))


def _phrases(text: str) -> Iterator[Mention]:
    """ "the auth provider": its first two words, and all three."""
    said = _WORD_BORDER.split(text)
    kept: list[str] = []
    for word in said:
        if word in STOPWORDS or word in _TELLING or len(word) < 3:
            break
        kept.append(word)
    for size in range(2, len(kept) + 1):
        words = kept[:size]
        if not any(word in _DULL for word in words) and not words[-1].endswith(("ed", "ing", "ly")):
            phrase = " ".join(words)
            yield Mention(Sort.PHRASE, phrase, folded(phrase))


def packages_in(command: str) -> Iterator[Mention]:
    """The packages that a command installs."""
    for match in _INSTALL.finditer(command):
        for token in match.group(1).split():
            found = _PACKAGE.match(token.strip("\"'"))
            if (
                found
                and not token.startswith("-")
                and "/" not in token.lstrip("@").partition("/")[2]
            ):
                name = found.group().rstrip(".-")
                if len(name) > 2 and name.lower() not in GENERIC:
                    yield Mention(Sort.PACKAGE, name, folded(name))


def moves_in(command: str) -> Iterator[Same]:
    """The files that a command renames, by their old and their new path."""
    for match in _MOVED.finditer(command):
        old, new = (path.strip("\"'").removeprefix("./") for path in match.groups())
        if "." in old.rpartition("/")[2] and not set("*?$`{") & set(old + new):
            new = f"{new}{old.rpartition('/')[2]}" if new.endswith("/") else new
            if old != new and "." in new.rpartition("/")[2]:
                yield Same(Sort.FILE, old, new)


def person(name: str, email: str = "") -> tuple[list[Mention], list[Same]]:
    """Somebody by name, and by address if it is known; no robots."""
    name = " ".join(name.split())
    if len(name) < 2 or _NOT_PEOPLE.search(f"{name} {email}"):
        return [], []
    found = [Mention(Sort.PERSON, name, folded(name))]
    if email and "noreply" not in email:
        found.append(Mention(Sort.PERSON, email.lower(), email.lower()))
        return found, [Same(Sort.PERSON, name, email.lower())]
    return found, []


def people_in(message: str) -> Iterator[tuple[str, str]]:
    """Name and address of those whom the last lines of a message thank."""
    for match in _PERSON_LINE.finditer(message):
        yield match.group(1), match.group(2)


def is_compound(name: str) -> bool:
    """Whether a name is made of several words, and so hardly means anything else."""
    return len(humps(name)) > 1
