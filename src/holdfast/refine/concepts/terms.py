"""Finds terms in texts: noun phrases, identifiers and names of files that could name a concept.

A term is a longest run of words of which a noun phrase can consist, up to the next verb, function
word or punctuation mark, so it is never cut from the middle of a sentence: of "Gradient stop
support was added" the term is "gradient stop support". Two spellings are one term if the stems of
their words are the same: `RemediateTab.tsx`, "Remediate tab" and "the remediate tabs".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import split_identifier, stem
from holdfast.refine.concepts.file_names import file_topic, without_number, without_test_mark
from holdfast.refine.concepts.process_words import is_process_stem
from holdfast.refine.core.word_classes import WordClass, is_common, is_generic, word_class
from holdfast.regex import regex

Key = tuple[str, ...]


class Place(IntEnum):
    """Where a term was found; the higher, the more likely it was worded to name something."""

    REQUEST = 1
    TEXT = 2
    CODE = 3
    FOLDER = 4
    TITLE = 5
    MARKED = 6  # a heading, bold, in quotes
    FILE = 7
    COMMIT = 8


# Where a person writes in passing, so that a word may be a slip of the pen.
ASKED = frozenset((Place.REQUEST, Place.TITLE))


class Term(NamedTuple):
    """An occurrence of a term. `is_shown` says whether the spelling shows how the project writes
    it: a capital at the start of a sentence does not, nor does a title in capitals."""

    key: Key
    spelling: str
    place: Place
    is_shown: bool = True


class TermLimits(NamedTuple):
    """How long a term may be."""

    max_words: int = 4
    max_chars: int = 48
    # Parts of an identifier: `PurchaseConfirmModalTestStubs` names a detail, not a topic.
    max_parts: int = 5
    max_token_chars: int = 40
    # Characters of an ordinary word of Chinese or Japanese.
    kanji_word: int = 2
    katakana_word: int = 4


_LIMITS = TermLimits()
# Addresses, what an editor fills in ("#terminalSelection"), and a last word that was cut, of which
# only a half may be left.
_FILLED_IN = r"(?<![\w#])#[a-z]\w+"
_EDITOR_VARIABLE = regex(_FILLED_IN)
_NO_WORDS = regex(rf"\b\w+://\S+|\bwww\.\S+|\S+@\S+|\S*…|{_FILLED_IN}")
_FENCE = regex(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = regex(r"`([^`\n]{1,80})`")
# The message of an error that somebody pasted, to the end of its paragraph: words of a program.
_ERROR_MESSAGE = regex(
    r"(?:\b(?i:errors?|exceptions?|warnings?|traceback|panic)\b[^:\n]{0,60}:|\b\w+(?:Error|Exception)\b)"
    r"[^\n]*(?:\n[^\n]+)*"
)
_MARKED = regex(
    r"^\s{0,3}#{1,4}\s+([^\n]{3,80})$|\*\*([^*\n]{3,60})\*\*|[\"“«„]([^\"”»“\n]{3,40})[\"”»“]|"
    r"「([^」\n]{2,20})」",
    re.MULTILINE,
)
_PIECE_END = regex(
    r"[^\w\s'’./+#@`_-]+|\s[-–—]+\s|[.:;,!?…](?=\s|$)|\s/\s|\n|"
    r"[\u3040-\u309f]+"  # hiragana: particles and endings of Japanese
)
_TOKEN = regex(r"[@/$]?[^\W_][\w'’./+#-]*[\w+#]|_\w+|[^\W_]")
_IDENTIFIER = regex(r"[a-z0-9][A-Z]|_|\w\.[a-z]|::|^[A-Z]{2,}[a-z]")
_FILE = regex(
    r"\w\.(?:pyi?|[cm]?[jt]sx?|go|rs|java|kts?|swift|rb|php|cs|cpp|cc|hpp|[ch]|sh|bash|zsh|fish|ps1|"
    r"lua|sql|s?css|html|vue|svelte|mdx?|mdc|toml|jsonl?|jsonc|ya?ml|ini|cfg|conf|lock|txt|ipynb|tf|"
    r"proto|graphql|gradle|xml|env|dart|nix|plist|svg|png|log|diff|patch|example|local)$"
)
_NO_NAME = regex(
    r"^(?:\W*\d[\w.,:%×x-]*|v\d[\w.-]*|#\d+|[A-Z]{1,5}-?\d+[a-z]?|"
    r"[a-z]{1,3}-(?=[a-z]*\d)[a-z0-9]{3,5}(?:[.-].*)?"
    r"|(?=[a-f]*\d)[0-9a-f]{6,40}|[a-zA-Z]\d*|\w*\d{4,}\w*|\w*(?:\d[a-z]+){3,}\w*)$"
)
_NO_VOWEL = regex(r"(?:^|[-_.])[bcdfghjklmnpqrstvwxz]{4,}(?:$|[-_.])")
# Letters of languages whose verbs and cases are not known: of scripts that are neither Latin nor
# East Asian, and those of Czech, Polish, Turkish and Vietnamese. Of eleven Russian phrases a reader
# found two to be names. Other words with accents may be verbs, unless they start with a capital, as
# nouns of German do.
_UNKNOWN_LANGUAGE = regex(
    r"[\u0370-\u1cff\u1e00-\u1eff]|"
    r"[čďěňřšťůýžąćęłńśźżğşőűđČĎĚŇŘŠŤŮÝŽĄĆĘŁŃŚŹŻĞŞŐŰĐ]|"
    r"\b[a-zß-ÿ]*[à-ÿ]"
)
_CJK = regex(r"[\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KATAKANA = regex(r"[\u30a0-\u30ff]+")
_MIN_CYRILLIC_STEM = 4
_SCOPE = regex(r"^\w+\(([\w ./-]{2,30})\)!?:\s*")
_SUBJECT_KIND = regex(
    r"^(?:feat|fix|docs?|chore|refactor|test|perf|ci|build|style|revert)!?:\s*", re.I
)
# Names of agents' tools and files that are in sessions of every project.
_TOOL_NAMES = frozenset(
    "run_terminal_cmd read_file todo_write edit_file list_dir codebase_search grep_search "
    "search_replace file_search web_search exec_command apply_patch write_stdin shell_command "
    "update_plan view_image askuserquestion todowrite todoread exitplanmode enterplanmode "
    "multiedit webfetch websearch notebookedit taskoutput taskcreate taskupdate tasklist taskget "
    "sendmessage teamcreate toolsearch multi_tool_use.parallel functions.exec_command "
    "max_output_tokens yield_time_ms old_string new_string file_path subagent_type "
    "run_in_background node_modules agents.md claude.md readme.md skill.md memory.md changelog.md "
    "license.md package.json glob_file_search require_escalated with_escalated_permissions "
    "claude_code console.log redacted nothing_to_report".split()
)
# A document is called by its title, without the ending of its file.
_DOCUMENT = regex(r"(?<=\w)\.(?:mdx?|mdc|rst|txt|adoc)$")
# Acronyms that would be other words in lower case.
_ACRONYMS = frozenset(("REST", "SOLID", "ACID", "ARM", "AIM", "RED", "GET", "POST", "PUT"))
_DOMAINS = (".com", ".org", ".io", ".net", ".dev", ".ai", ".app")
# What is done, at the end of a term, adds nothing to what it is done to.
_WORK = frozenset(
    "issue issues problem problems change changes update updates fix fixes task tasks work code "
    "improvement improvements file files error errors bug bugs implementation implementations "
    "feature features part parts side section sections functionality information info detail "
    "details version versions thing things codebase project repo repository".split()
)


# How a file, a command or a participant of a chat is mentioned.
_MENTIONS = "@/"


class _Word(NamedTuple):
    text: str
    kind: WordClass
    is_start: bool  # of its sentence or piece


def key_of(words: Iterable[str]) -> Key:
    """The key of a term: the stems of its words, those of an identifier each."""
    return tuple(root for word in words for root in _roots(word))


@lru_cache(maxsize=50_000)
def _roots(word: str) -> tuple[str, ...]:
    bare = word.lstrip("@/$.").rstrip("()")
    if is_file(bare):
        bare = without_test_mark(without_number(bare.rpartition(".")[0]))
    parts = split_identifier(bare) if is_identifier(bare) or "-" in bare else [bare]
    return tuple(_root(part.lower()) for part in parts if part) or (bare.lower(),)


def _root(word: str) -> str:
    if word.isascii():
        return stem(word)
    # Endings of most cases: "подписка", "подписки" and "подпиской" are the same.
    return word.rstrip("аеиоуыэюяйьёмвх") or word if len(word) > _MIN_CYRILLIC_STEM else word


def roots_of(text: str) -> set[str]:
    """The stems of all words of a text, also of those that no term has."""
    return {
        root
        for piece in _PIECE_END.split(text)
        for token in _TOKEN.findall(piece)
        for part in filter(None, token.split("/"))
        for root in _roots(part)
    }


def telling_roots(text: str) -> set[str]:
    """The stems of the words of a text that say what it is about."""
    return {
        root
        for token in _TOKEN.findall(text)
        if _plain_class(token) in _TELLING and not is_generic(token.lower())
        for root in _roots(token)
        if not is_process_stem(root)
    }


# A line of a terminal: its prompt, a command that nobody would write as a request, a log.
_TERMINAL = regex(
    r"^(?:\S*\w@[\w.-]+[: ]\S+ ?[%$#❯>] |[❯➜$] *\w|[~/]\S* \([\w/.-]+\) |"
    r"(?i:uv|npm|bun|poetry) run |(?i:npx) \S|(?i:sudo) \S|"
    r"[^\n\u2500-\u257f]*[\u2500-\u257f]{3}).*$|"  # a table that a program drew, and its command
    r"(?<=[^\n] )\[[A-Z][\w ]+\] .*$|"  # a line of a log, after what somebody says about it
    r"(?<=\s)\w\S*@[\w.-]+[: ]\S+ ?[%$#❯>] |(?<!\S)\S+ git:\([^)\n]*\)(?: ✗)?",  # or a prompt
    re.MULTILINE,
)
# What a program printed, from where it begins in a line: a time, a place in a script, an address
# with parameters, a finding of a compiler, the part of a program that speaks ("[plugin:css]"), a
# prompt of Windows, a number of a decompiler, the rights of a file, JSON.
_PRINTED = regex(
    r"(?<!\S)(?:\d\d:\d\d:\d\d(?:[:.,]|\s+[A-Z\[])|\S+\.[jt]sx?(?:\?\S*)?:\d+ (?=[^\w\s]|Uncaught)|"
    r"\S{0,300}\?\w{1,60}=\S{0,300}&\S{0,300}:\d|"
    r"[A-Z]:\\\S{0,300} ?: (?:error|warning)\b|\[plugin:[\w:.-]{1,60}\] |"
    r"(?:\([\w-]+\) |PS )?[A-Z]:\\\S*>|// Token: |\S?[-rwxsSt]{8,9} \d+ \w|"
    r"(?:\[ ?)?\{ ?\"\w+\" ?:).*$",
    re.MULTILINE,
)
# A quoted value in the command line of a program, with an option right before or behind it:
# `find "Ann" --json`.
_COMMAND_VALUE = regex(
    r"^(?P<before>[\w./-]+(?: [\w./:=-]+){0,4}?) \"[^\"\n]*\"(?= --?[a-zA-Z])|"
    r"^(?P<option>[\w./-]+(?: [\w./:=-]+){0,4}? --?[a-zA-Z][\w-]*(?:[ =][\w./:-]+)?) \"[^\"\n]*\"",
    re.MULTILINE,
)
# What something is compared with, up to the next mark or for a few words.
_COMPARED = regex(
    r"\b(?:instead of|rather than|as opposed to|similar(?:ly)? to|such as|unlike|"
    r"compared (?:to|with)|inspired by)(?: [^\s,.;:?!()]+){1,4}",
    re.IGNORECASE,
)
# What a program composed: the history of another session, or a task for an agent.
_COMPOSED = regex(
    r"^\W*(?:the following is the \w+ agent history|you are\b|your [\w -]{1,30} is\b)", re.I
)


def without_pasted_text(text: str) -> str:
    """A request without lines of a terminal, what a program printed and messages of errors that are
    pasted into it; "" if a program composed it."""
    if _COMPOSED.match(text):
        return ""
    text = _EDITOR_VARIABLE.sub(" | ", _PRINTED.sub("", _TERMINAL.sub("", text)))
    text = _COMMAND_VALUE.sub(lambda line: line["before"] or line["option"], text)
    return without_error_messages(text)


def without_comparisons(text: str) -> str:
    """A title without what it only compares things with: "instead of Azure"."""
    return _COMPARED.sub(" ", text)


def without_error_messages(text: str) -> str:
    """A request without the messages of errors that are pasted into it."""
    return _ERROR_MESSAGE.sub(" ", text)


def is_identifier(word: str) -> bool:
    """Whether a word has a spelling of its own, as `parentId`, `a_b`, `RESTClient` or `a.py`."""
    return _IDENTIFIER.search(word) is not None


def is_file(word: str) -> bool:
    """Whether a word is the name of a file with its ending."""
    return _FILE.search(word) is not None


def find_terms(text: str, place: Place) -> Iterator[Term]:
    """The terms of a text. What is marked in it, and code in it, counts as such; what is quoted
    counts as said, too. Messages of errors in requests do not count."""
    if place in ASKED:
        text = without_pasted_text(text)
    text = _NO_WORDS.sub(" | ", _FENCE.sub("\n", text))
    if place < Place.MARKED:
        for match in _MARKED.finditer(text):
            marked = next(group for group in match.groups() if group)
            yield from _phrase_terms(marked, Place.MARKED)
        text = _MARKED.sub(lambda match: " | " if match[1] or match[2] else match[0], text)
    yield from _phrase_terms(text, place)


def _phrase_terms(text: str, place: Place) -> Iterator[Term]:
    text = _CODE.sub(_inline_code, text)
    for piece in _PIECE_END.split(text):
        if len(piece) > 1:
            yield from _piece_terms(piece, place)


def _inline_code(match: re.Match[str]) -> str:
    """Inline code is a word if it is one name, else it ends a phrase."""
    code = match.group(1).strip().removesuffix("()")
    return f" {code} " if _TOKEN.fullmatch(code) and " " not in code else " | "


def _piece_terms(piece: str, place: Place) -> Iterator[Term]:
    tokens = _TOKEN.findall(piece)
    kinds = [_plain_class(token) for token in tokens]
    run: list[_Word] = []
    runs = [run]
    before = WordClass.VERB_CUE
    for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True)):
        is_last = number + 1 == len(tokens)
        after = WordClass.OTHER if is_last else kinds[number + 1]
        if token[0] in _MENTIONS:
            # "@workspace /setup" are two names, and no phrase goes on after them.
            runs += [[_Word(token, kind, number == 0)], run := []]
            before = WordClass.OTHER
            continue
        if kind not in (WordClass.NOUN, WordClass.ADJECTIVE):
            follows_plural = bool(run) and is_plural(run[-1].text)
            is_noun = _IN_PHRASE.get(kind, _never)(token, before, after, follows_plural)
            if number == 0 or not is_noun:
                before = _class_as_context(token, kind)
                run = []
                runs.append(run)
                continue
            kind = WordClass.ADJECTIVE if kind is WordClass.PARTICIPLE else WordClass.NOUN
        run.append(_Word(token, kind, number == 0))
        before = kind
    if any(runs):
        capitals = sum(token[:1].isupper() for token in tokens)
        is_title_case = len(tokens) > 2 and capitals * 3 > len(tokens) * 2
        for run in runs:
            yield from _run_terms(run, place, is_title_case)


def _class_as_context(token: str, kind: WordClass) -> WordClass:
    """The class of a token that ends a phrase, for the word after it. A word that could be a noun
    but is none is a verb, and after "and" there may be another one."""
    if kind is WordClass.ACTION:
        return WordClass.VERB
    return WordClass.VERB_CUE if token in ("and", "or") else kind


@lru_cache(maxsize=50_000)
def _plain_class(token: str) -> WordClass:
    """The class of a token by itself: names that look like code are nouns, numbers end a phrase."""
    low = token.lower().replace("’", "'").removesuffix("'s")
    if low in _TOOL_NAMES or _NO_NAME.match(token) or len(token) > _LIMITS.max_token_chars:
        return WordClass.OTHER
    if _NO_VOWEL.search(low) or not any(c.isalpha() for c in token):
        return WordClass.OTHER
    if not token.isascii():
        return _foreign_class(low)
    if low.endswith(_DOMAINS):
        return WordClass.OTHER
    if "'" in low:
        return word_class(low) if word_class(low) is not WordClass.NOUN else WordClass.OTHER
    if "/" in token.strip("/"):
        return WordClass.OTHER if not _FILE.search(token) else WordClass.NOUN
    if is_identifier(token) or token[0] in "@/$." or token in _ACRONYMS:
        return WordClass.NOUN
    if len(token) < 3 and not token.isupper():
        return word_class(low) if word_class(low) is not WordClass.NOUN else WordClass.OTHER
    return word_class(low)


def _foreign_class(low: str) -> WordClass:
    """The class of a word with other letters than ASCII has."""
    known = word_class(low)
    if known is not WordClass.NOUN:
        return known
    if _CJK.search(low):
        return WordClass.NOUN if len(low) > 1 and low not in _GENERIC_CJK else WordClass.OTHER
    return WordClass.NOUN if len(low) > 2 else WordClass.OTHER


_GENERIC_CJK = frozenset(
    "実装 確認 修正 変更 追加 対応 削除 作業 問題 内容 場合 必要 説明 結果 方法 処理 更新 作成 "
    "以下 現在 今回 全部 全体 一部 最後 最初 自分 質問 回答 意味 部分 问题 修改 添加 检查 实现 "
    "代码 文件 测试 确认".split()
)


def is_of_unknown_language(spelling: str) -> bool:
    """Whether only what is marked is a term in the language of these words."""
    return _UNKNOWN_LANGUAGE.search(spelling) is not None


def is_short_cjk(word: str) -> bool:
    """Whether a word of Chinese or Japanese is an ordinary one: two characters, or a few of
    katakana. Names of what a project makes are composed of more."""
    if not _CJK.search(word):
        return False
    return len(word) <= (_LIMITS.katakana_word if _KATAKANA.fullmatch(word) else _LIMITS.kanji_word)


def is_plural(word: str) -> bool:
    """Whether a word ends as a plural does."""
    return word[-1] == "s" and word[-2:] != "ss"


_TELLING = frozenset((WordClass.NOUN, WordClass.GERUND))
_BEFORE_VERB = frozenset((WordClass.SUBJECT, WordClass.VERB_CUE, WordClass.ACTION))
_CONTENT = frozenset((WordClass.NOUN, WordClass.ADJECTIVE, WordClass.ACTION, WordClass.GERUND))
_OBJECT = frozenset((WordClass.DETERMINER, WordClass.SUBJECT))


def _action_is_noun(token: str, before: WordClass, after: WordClass, follows_plural: bool) -> bool:
    """Whether a word that may be a verb is a noun here: "the build" and "a slow build", but not
    "you build", "build the", "the tests pass" or "release calls publish.yml"."""
    if before in _BEFORE_VERB or after in _OBJECT:
        return False
    if is_plural(token):
        return before is not WordClass.NOUN or after not in _CONTENT
    return not follows_plural


def _participle_is_adjective(
    token: str, before: WordClass, after: WordClass, follows_plural: bool
) -> bool:
    """Whether a participle describes the noun after it: "implement colored buttons"."""
    is_open = before in (WordClass.DETERMINER, WordClass.VERB, WordClass.PREPOSITION)
    return is_open and after in _CONTENT


def _gerund_is_noun(token: str, before: WordClass, after: WordClass, follows_plural: bool) -> bool:
    """Whether a gerund is a noun: "certificate pinning" and "the wiring", but not "tests
    running" nor "document pinning the certificate"."""
    if before in (WordClass.NOUN, WordClass.ADJECTIVE):
        return not follows_plural and after not in _OBJECT and after is not WordClass.VERB_CUE
    return before is WordClass.DETERMINER


def _never(token: str, before: WordClass, after: WordClass, follows_plural: bool) -> bool:
    return False


_IN_PHRASE = {
    WordClass.ACTION: _action_is_noun,
    WordClass.PARTICIPLE: _participle_is_adjective,
    WordClass.GERUND: _gerund_is_noun,
}


def _run_terms(run: Sequence[_Word], place: Place, is_title_case: bool) -> Iterator[Term]:
    """The terms of a run of words: all of it without trailing adjectives, and its identifiers."""
    end = len(run)
    while end and _ends_no_term(run[end - 1]):
        end -= 1
    run = run[:end]
    if not run:
        return
    if len(run) <= _LIMITS.max_words:
        yield from _term(run, place, not is_title_case and not run[0].is_start)
    if len(run) > 1:
        for word in run:
            if is_identifier(word.text) and not _ends_no_term(word):
                yield from _term([word], place, True)


def _ends_no_term(word: _Word) -> bool:
    """Whether a word at the end of a term adds nothing to it."""
    return word.text.lower() in _WORK or word.kind is not WordClass.NOUN


def _term(words: Sequence[_Word], place: Place, is_shown: bool) -> Iterator[Term]:
    texts = [_bare(word.text) for word in words]
    if all(is_generic(part.lower()) for text in texts for part in _parts(text)):
        return
    key = key_of(texts)
    spelling = " ".join(texts)
    if place < Place.MARKED and is_of_unknown_language(spelling):
        return  # where a phrase ends is only known where it is marked
    if len(words) > 1 and spelling.isupper() and "_" not in spelling:
        return  # somebody shouts
    is_long = len(key) > _LIMITS.max_parts or len(spelling) > _LIMITS.max_chars
    if not is_long and len(set(key)) == len(key):
        is_code = len(words) == 1 and is_identifier(words[0].text)
        at = Place.CODE if is_code and place < Place.CODE else place
        yield Term(key, spelling, at, is_shown or is_code)


def _bare(text: str) -> str:
    """A word as it is shown: a path as the name of its file, without a possessive."""
    bare = text.lstrip("@$/").replace("’s", "").removesuffix("'s").rstrip("./-")
    bare = bare.rpartition("/")[2] if "/" in bare.strip("/") else bare
    return _DOCUMENT.sub("", without_number(bare) if is_file(bare) else bare)


def is_specific(texts: Sequence[str]) -> bool:
    """Whether words say together what is meant: one that only this project uses, or two that many
    projects use, "database migration", but not such a word beside a generic one, "config file"."""
    nouns = [text for text in texts if word_class(text.lower()) is not WordClass.ADJECTIVE]
    parts = [part.lower() for text in nouns for part in _parts(text)]
    known = [
        part
        for part in parts
        if word_class(part) is not WordClass.ADJECTIVE and not is_generic(part)
    ]
    is_compound = len(parts) > 1 or any("-" in text for text in texts)
    if is_compound and not any(map(is_identifier, texts)) and not names_thing(texts):
        return False
    return any(not is_common(part) for part in known) or len(known) > 1


def names_thing(texts: Sequence[str]) -> bool:
    """Whether one of some words is a noun that does not only say how people work: of
    "ready-for-review" and "implement-s6" none is."""
    parts = [part for text in texts for part in _parts(text)] or list(texts)
    return any(
        part.isalpha()
        and word_class(part.lower()) in _CONTENT
        and not is_process_stem(stem(part.lower()))
        for part in parts
    )


@lru_cache(maxsize=50_000)
def _parts(text: str) -> tuple[str, ...]:
    """The words of a token; none if it is generic as a whole, such as a file of every project."""
    if is_generic(text.lower()):
        return ()
    if is_file(text):
        text = file_topic(text)
    parts = split_identifier(text) if is_identifier(text) or "-" in text else [text]
    return tuple(part for part in parts if len(part) > 1 and not part.isdigit())


def file_term(name: str, place: Place = Place.FILE) -> Iterator[Term]:
    """The term of the name of a file without its extensions, or of a folder, as it is spelled."""
    key = key_of([name])
    fits = len(key) <= _LIMITS.max_parts and len(name) <= _LIMITS.max_chars
    is_name = name != "" and _NO_NAME.match(name) is None and _NO_VOWEL.search(name.lower()) is None
    if is_name and fits and len(set(key)) == len(key):
        yield Term(key, name, place)


def commit_terms(subject: str) -> Iterator[Term]:
    """The terms of a commit's subject, and its scope."""
    scope = _SCOPE.match(subject)
    if scope is not None:
        yield from file_term(scope.group(1))
        subject = subject[scope.end() :]
    yield from find_terms(_SUBJECT_KIND.sub("", subject), Place.COMMIT)
