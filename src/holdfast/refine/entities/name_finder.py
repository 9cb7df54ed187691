"""Finds names in texts: paths, identifiers, packages, people, issues, commits and noun phrases.

By rules alone, so that the same text always has the same names. Which names mean the same entity,
and which mean nothing, is decided in `alias_resolution`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.language import STOPWORDS, file_word, fold_name, split_identifier
from holdfast.model.graph import Mention, MentionRole, ProvenAlias, SpellingSource
from holdfast.regex import regex

_URL = regex(r"\b\w+://\S+")
_FENCE = regex(r"```.*?(?:```|\Z)", re.DOTALL)
_EXTENSIONS = (
    "py|pyi|tsx?|jsx?|mjs|cjs|go|rs|java|kt|swift|rb|php|cs|cpp|cc|hpp|[ch]|sh|sql|css|scss|html|"
    "vue|svelte|md|mdx|toml|json|jsonl|ya?ml|ini|cfg|lock|txt|ipynb|tf|proto|graphql|gradle|xml|env"
)
_PATH = regex(
    rf"(?<![\w@/.:-])(?:~?/|\.{{1,2}}/)?(?:[\w@.+-]+/)*[\w@+-][\w@.+-]*\.(?:{_EXTENSIONS})"
    r"(?![\w/-]|\.\w)"
)
_BACKTICKED = regex(r"`([^`\n]{2,80})`")
_CALL = regex(r"\(.*\)$")
_IDENTIFIER = regex(r"^[A-Za-z_$@][\w$]*(?:(?:\.|::|-|/)[A-Za-z_$@][\w$]*)*$")
_COMPOUND_NAME = regex(
    r"(?<![\w./`-])(?:[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+|"
    r"[A-Za-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)(?![\w/-])"
)
_ISSUE = regex(
    r"(?<![\w&/#])(?:(?<![Tt]ask )(?<![Tt]asks )(?<![Ss]tep )#(\d{1,6})|"
    r"GH-(\d{1,6})|([A-Z][A-Z]{1,9}-\d{1,6}))\b"
)
_NOT_ISSUE = regex(
    r"^(?:UTF|SHA|ISO|RFC|GPT|MD|AES|RSA|HTTP|TLS|IPV|ES|CVE|PEP|X|ECMA|BASE|COVID|GB|USB|CSS|UTC|"
    r"GMT|HS|RS|ED|P|L|H|V|PR|MIT|BSD)-"
)
_COMMIT = regex(
    r"\b(?:commits?|revision|sha|reverts?|fixes:?|cherry[- ]picked from(?: commit)?)\s+`?"
    r"([0-9a-f]{7,40})\b",
    re.IGNORECASE,
)
_TRAILER = regex(
    r"^(?:co-authored-by|signed-off-by|reviewed-by|reported-by|acked-by|suggested-by):\s*"
    r"([^<\n]{2,60}?)\s*<([^>\s]+@[^>\s]+)>",
    re.IGNORECASE | re.MULTILINE,
)
_INSTALL = regex(
    r"\b(?:pip3?|uv(?: pip)?|pipx|npm|pnpm|yarn|bun|cargo|gem|brew|poetry|apt(?:-get)?)\s+"
    r"(?:install|add|i)\s+([^\n;&|]{2,200})"
)
_PACKAGE = regex(r"^(?:@[\w.-]+/)?[A-Za-z][\w.-]*")
_GIT_MV = regex(r"\bgit mv\s+(?:-\w+\s+)*(\S+)\s+([^\s;&|]+)")
_PROPER_NAME = regex(r"(?<=[a-z,;)] )([A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2})\b(?![.:(]\w)")
_PHRASE = regex(
    r"\b(?:the|our|this|that|its|their|your|my)\s+([a-z][a-z0-9]+(?:[ -][a-z][a-z0-9]+){1,2})\b"
)
_WORD_SEPARATOR = regex(r"[ -]")

# Names that every project has. Alone they name nothing, and the word does not mean the file.
GENERIC = frozenset(
    "test tests index main data util utils config configs settings setup app init types type "
    "helper helpers common base core model models readme license changelog package makefile server "
    "client name value values string number object list dict item items key keys error errors file "
    "files path paths function method class module node user users id ids true false none null "
    "self this args kwargs result results response request src lib bin dist build docs doc example "
    "examples todo api cli git npm npx pip python node bash sh cd ls cat grep rg sed awk echo find "
    "curl make run start stop dev prod debug info warn warning log logs status default int str "
    "bool float any void const let var import export from return async await claude agent "
    "assistant human system tool tools input output text content title description version found "
    "issue issues context enabled disabled trusted format formats rule rules instructions summary "
    "appdata conftest schema constants enums plan task tasks skill skills command commands read "
    "write edit glob task webfetch websearch todowrite multiedit session sessions taskupdate "
    "tasklist taskcreate taskget sendmessage teamcreate exitplanmode enterplanmode askuserquestion "
    "in_progress inprogress undefined completed pending github typescript javascript "
    "general-purpose run_in_background subagent_type file_path old_string new_string".split()
)
# A noun phrase with one of these says nothing specific: "the same file".
_UNSPECIFIC_WORDS = frozenset(
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
# Words that end a noun phrase: verbs and adverbs.
_PHRASE_END = frozenset(
    "is are was were be been has have had do does did will would can could should may might must "
    "need needs work works fail fails failed get gets got run runs make makes use uses used come "
    "comes came go goes went look looks seem seems return returns returned handle handles show "
    "shows already now also then still just too again not never always currently".split()
)
# Capitalised words that name nobody and nothing.
_NOT_PROPER_NAMES = frozenset(
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
_NOT_PEOPLE = regex(r"\[bot\]|\bbot\b|^claude\b|noreply@anthropic|dependabot|github-actions", re.I)

# Longer or shorter texts are no names: a path of a generated file, a variable of a few letters.
_MAX_NAME_CHARS = 90
_MIN_KEY_CHARS = 4
_MAX_PATH_CHARS = 200
# The digits of a commit id that people quote.
_SHORT_SHA = 7


def find_names(text: str) -> Iterator[Mention]:
    """The names in a text, in no particular order; a name that occurs twice is given twice."""
    text = _URL.sub(" ", text)
    for match in _PATH.finditer(text):
        yield from _path(match.group())
    for match in _BACKTICKED.finditer(text):
        yield from _quoted(match.group(1))
    bare = _PATH.sub(" ", _BACKTICKED.sub(" ", _FENCE.sub(" ", text)))
    for match in _COMPOUND_NAME.finditer(bare):
        yield from _name(match.group())
    for match in _ISSUE.finditer(bare):
        yield from _issue(match)
    for match in _COMMIT.finditer(text):
        yield commit_mention(match.group(1))
    for match in _PROPER_NAME.finditer(bare):
        yield from _proper(match.group(1))
    for match in _PHRASE.finditer(bare):
        yield from _phrases(match.group(1))


def _path(path: str) -> Iterator[Mention]:
    path = path.removeprefix("./").rstrip(".")
    if "." in path.rpartition("/")[0].rpartition("/")[2][1:]:
        return  # "a.py/b.py": two files with a slash between them
    if len(path) <= _MAX_PATH_CHARS and not path.startswith(".."):
        yield Mention(SpellingSource.PATH, path, file_word(path))


def file_mention(path: str, parts: MentionRole = MentionRole.MENTIONED) -> Mention:
    """A file that a tool or a commit touched."""
    path = path.replace("\\", "/").removeprefix("./")
    return Mention(SpellingSource.FILE, path, file_word(path), parts)


def component_mention(name: str) -> Mention:
    """A component that a model named, whatever it looks like."""
    return Mention(SpellingSource.NAME, name, fold_name(name))


def commit_mention(sha: str, parts: MentionRole = MentionRole.MENTIONED) -> Mention:
    """A commit, by its short id."""
    short = sha.lower()[:_SHORT_SHA]
    return Mention(SpellingSource.COMMIT, short, short, parts)


def _quoted(text: str) -> Iterator[Mention]:
    """The text between backticks, if it is one name."""
    bare = _CALL.sub("", text.strip()).lstrip("@$")
    if _PATH.fullmatch(bare) or not _IDENTIFIER.match(bare):
        return
    # A plain lower-case word may be any word; with a call, a capital or a digit it is a name.
    if bare != text.strip() or not bare.isalpha() or not bare.islower():
        yield from _name(bare)


def _name(text: str) -> Iterator[Mention]:
    last = re.split(r"\.|::|/", text)[-1] if "/" not in text else text
    text = last if last and len(last) > 2 else text
    key = fold_name(text)
    if text.startswith("_") and not is_compound(text):
        return
    has_length = len(key) >= _MIN_KEY_CHARS and len(text) <= _MAX_NAME_CHARS
    if has_length and text.lower() not in GENERIC and key not in GENERIC:
        yield Mention(SpellingSource.NAME, text, key)


def _issue(match: re.Match[str]) -> Iterator[Mention]:
    number, other, ticket = match.groups()
    if ticket and _NOT_ISSUE.match(ticket):
        return
    text = ticket or f"#{number or other}"
    yield Mention(SpellingSource.ISSUE, text, text.lower())


def _proper(text: str) -> Iterator[Mention]:
    words = text.lower().split()
    while words and words[0] in _NOT_PROPER_NAMES | STOPWORDS:
        words = words[1:]
        text = text.partition(" ")[2]
    unspecific = GENERIC | _UNSPECIFIC_WORDS | _NOT_PROPER_NAMES
    if words and not all(word in unspecific for word in words):
        yield Mention(SpellingSource.PROPER, text, fold_name(text))


def _phrases(text: str) -> Iterator[Mention]:
    """The first two words of a noun phrase, and all three: "the auth provider"."""
    kept: list[str] = []
    for word in _WORD_SEPARATOR.split(text):
        if word in STOPWORDS or word in _PHRASE_END or len(word) < 3:
            break
        kept.append(word)
    for size in range(2, len(kept) + 1):
        words = kept[:size]
        if not any(word in _UNSPECIFIC_WORDS for word in words) and not words[-1].endswith(
            ("ed", "ing", "ly")
        ):
            phrase = " ".join(words)
            yield Mention(SpellingSource.PHRASE, phrase, fold_name(phrase))


def find_packages(command: str) -> Iterator[Mention]:
    """The packages that a command installs."""
    for match in _INSTALL.finditer(command):
        for token in match.group(1).split():
            found = _PACKAGE.match(token.strip("\"'"))
            is_path = "/" in token.lstrip("@").partition("/")[2]
            if found is None or token.startswith("-") or is_path:
                continue
            name = found.group().rstrip(".-")
            if len(name) > 2 and name.lower() not in GENERIC:
                yield Mention(SpellingSource.PACKAGE, name, fold_name(name))


def find_renames(command: str) -> Iterator[ProvenAlias]:
    """The files that a command renames (`git mv`), as old and new path."""
    for match in _GIT_MV.finditer(command):
        old, new = (path.strip("\"'").removeprefix("./") for path in match.groups())
        if "." in old.rpartition("/")[2] and not set("*?$`{") & set(old + new):
            new = f"{new}{old.rpartition('/')[2]}" if new.endswith("/") else new
            if old != new and "." in new.rpartition("/")[2]:
                yield ProvenAlias(SpellingSource.FILE, old, new)


def person_mentions(name: str, email: str = "") -> tuple[list[Mention], list[ProvenAlias]]:
    """The mentions of a person by name and, if known, by address; none for a bot."""
    name = " ".join(name.split())
    if len(name) < 2 or _NOT_PEOPLE.search(f"{name} {email}"):
        return [], []
    found = [Mention(SpellingSource.PERSON, name, fold_name(name))]
    if email and "noreply" not in email:
        found.append(Mention(SpellingSource.PERSON, email.lower(), email.lower()))
        return found, [ProvenAlias(SpellingSource.PERSON, name, email.lower())]
    return found, []


def find_people(message: str) -> Iterator[tuple[str, str]]:
    """Name and address of the people in the trailers of a commit message."""
    for match in _TRAILER.finditer(message):
        yield match.group(1), match.group(2)


def is_compound(name: str) -> bool:
    """Whether a name consists of several words, so that it hardly means anything else."""
    return len(split_identifier(name)) > 1
