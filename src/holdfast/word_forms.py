"""The forms of words that a search looks for besides the words themselves.

Parts of words: `GradientLast` is also found by "gradient", and a text in a script without spaces
(Chinese, Japanese, Korean with its particles, Thai) by pairs of its characters. The index has these
parts (`index_parts`), and a query is cut in the same way (`search_words`).

Starts of words: a word in another language than English is looked for by its stem, so that
"миграции" finds "миграция". Only queries are stemmed, by Snowball: the term `миграц…` means every
word that begins like that, in the index (`store`) and in texts (`starts_word`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from holdfast.language import split_identifier, words
from holdfast.regex import regex

# Scripts whose words are cut into pairs of characters, each script for itself: a change of script
# is where a word ends. Letters of the alphabetic ones (Thai, Lao, Burmese, Khmer) say less, so
# these are cut into threes.
_HAN = r"\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = r"\u3041-\u309f"
_KATAKANA = r"\u30a1-\u30ff\u31f0-\u31ff"
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_ALPHABETIC = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SPACELESS = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _ALPHABETIC
_SPACELESS_CHARACTER = regex(f"[{_SPACELESS}]")
_RUN = regex(f"([{_HAN}]+)|([{_HIRAGANA}]+)|([{_KATAKANA}]+)|([{_HANGUL}]+)|([{_ALPHABETIC}]+)")
_GLUED = regex(f"[^\\W{_SPACELESS}]+(?=[{_SPACELESS}])|(?<=[{_SPACELESS}])[^\\W{_SPACELESS}]+")
_FULL_WIDTH = regex(r"[\uff00-\uffef\u1100-\u11ff]")
_THREES = 5
# Capital letters as `A`, small ones and digits as `a`, everything else as a blank.
_CASES = {
    code: "A" if chr(code).isupper() else "a" if chr(code).isalnum() else " " for code in range(128)
}
# Longer names are encoded data.
_MAX_NAME_CHARACTERS = 80

# What follows a Korean noun, the longest first.
_PARTICLES = tuple(
    "에서는 에서도 으로는 으로도 까지는 부터는 에게서 이라는 이라고 입니다 "
    "에서 에게 으로 까지 부터 보다 처럼 마다 이나 라는 라고 인가 에는 에도 한테 하고 이며 "
    "에 은 는 이 가 을 를 의 로 와 과 도 만 나 며".split()
)


def index_parts(text: str) -> str:
    """The parts of a text's words, with spaces between them: those of names in mixed case, and
    pieces of scripts without spaces. "" for most texts."""
    parts: list[str] = []
    if not text.isascii():
        text = _in_usual_width(text)
        if _SPACELESS_CHARACTER.search(text):
            parts += _script_parts(text)
    parts += (part for _, own in mixed_case_names(text) for part in own)
    return " ".join(parts)


def mixed_case_names(text: str) -> Iterator[tuple[str, list[str]]]:
    """The names in mixed case of a text in lower case, each once, with their parts:
    `GradientLast` is gradient and last."""
    for name in dict.fromkeys(_mixed_case_runs(text)):
        if len(name) <= _MAX_NAME_CHARACTERS:
            yield name.lower(), [part.lower() for part in split_identifier(name)]


def _mixed_case_runs(text: str) -> Iterator[str]:
    """The runs of ASCII letters and digits with a capital letter within. A pattern for it takes
    nine times as long, for it tries every character of every word."""
    cases = text.encode("ascii", "replace").decode("ascii").translate(_CASES)
    capital = cases.find("aA")
    while capital >= 0:
        start, end = cases.rfind(" ", 0, capital) + 1, cases.find(" ", capital)
        yield text[start : end if end >= 0 else None]
        capital = cases.find("aA", end) if end >= 0 else -1


def _script_parts(text: str) -> Iterator[str]:
    for run in _RUN.finditer(text):
        if run.lastindex != 2 or len(run.group()) > 1:
            yield from _cut(run.group(), run.lastindex)
    # A word of one character (夜) is part of longer ones (夜間).
    yield from dict.fromkeys(sign for run in _RUN.finditer(text) for sign in run[1] or "")
    yield from _GLUED.findall(text)


def _cut(run: str, script: int | None) -> list[str]:
    size = 3 if script == _THREES else 2
    return [run[n : n + size] for n in range(max(1, len(run) - size + 1))]


def _in_usual_width(text: str) -> str:
    return unicodedata.normalize("NFKC", text) if _FULL_WIDTH.search(text) else text


def apart_from_pieces(text: str) -> str:
    """A text with spaces around what is of a script without them, so that other words beside it
    are words of their own."""
    if text.isascii() or not _SPACELESS_CHARACTER.search(text):
        return text
    return _RUN.sub(r" \g<0> ", _in_usual_width(text))


def is_piece(term: str) -> bool:
    """Whether a term is of a script without spaces, so that it may stand anywhere in a text."""
    return not term.isascii() and _SPACELESS_CHARACTER.search(term) is not None


def search_words(text: str) -> list[str]:
    """The words of a text in lower case as `language.words` has them; scripts without spaces are
    cut into pieces. Of Japanese, Hiragana (endings and particles) counts only where there is
    nothing else."""
    if text.isascii() or not _SPACELESS_CHARACTER.search(text := _in_usual_width(text)):
        return words(text)
    found: list[str] = []
    endings: list[str] = []
    place = 0
    for run in _RUN.finditer(text):
        found += words(text[place : run.start()])
        (endings if run.lastindex == 2 else found).extend(_query_pieces(run.group(), run.lastindex))
        place = run.end()
    found += words(text[place:])
    return found or endings


def _query_pieces(run: str, script: int | None) -> list[str]:
    if script == 4:
        return [] if run in _PARTICLES else _cut(_without_particle(run), 4)
    return _cut(run, script)


def _without_particle(word: str) -> str:
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            return word[: -len(particle)]
    return word


def phrase_parts(term: str) -> str:
    """A term as it stands among the parts of a text: what is of a script without spaces is cut."""
    if not is_piece(term):
        return term
    text = _in_usual_width(term)
    cut = (part for run in _RUN.finditer(text) for part in _cut(run.group(), run.lastindex))
    return " ".join(cut)


START = "…"
_WORD_START = regex(r"[^\W\d_]+…")
_MIN_START = 3


def is_start(term: str) -> bool:
    """Whether a term means all words that begin with it."""
    return term.endswith(START) and _WORD_START.fullmatch(term) is not None


def starts_word(start: str, word: str) -> bool:
    """Whether a word in lower case begins with a start (as `fold_marks` gives it, without the
    ellipsis) and has an ending no longer than that."""
    return word.startswith(start) and len(word) <= 2 * len(start)


def without_elision(word: str) -> str:
    """A word without the article or pronoun that is written together with it: `l'accès`."""
    return word.replace("’", "'").rpartition("'")[2]


def fold_marks(text: str) -> str:
    """A text without accents and other marks on its letters."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


# The languages of scripts that only one stemmer is for.
_SCRIPT_LANGUAGES = (
    (regex(r"[\u0400-\u052f]"), "russian"),
    (regex(r"[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (regex(r"[\u0530-\u058f]"), "armenian"),
    (regex(r"[\u0600-\u06ff]"), "arabic"),
    (regex(r"[\u0900-\u097f]"), "hindi"),
    (regex(r"[\u0b80-\u0bff]"), "tamil"),
)
# Of each language the words that texts are most likely to have.
_MARKERS = {
    "german": "und nicht wird der das dem wir",
    "french": "les une dans avec nous cette",
    "spanish": "los las una porque nos esta",
    "italian": "gli della il sono nel viene",
    "portuguese": "uma não são foi também",
    "polish": "nie jest przed oraz się",
}


def language_markers() -> Iterator[tuple[str, str]]:
    """Languages, each with some words that texts in it have and English ones do not."""
    for language, said in _MARKERS.items():
        yield from ((language, word) for word in said.split())


def word_start(word: str, languages: Sequence[str] = ()) -> str:
    """The term by which all forms of a word are found: in the language of its script or, if it is
    in Latin letters, in the given ones. "" for a word in English, or without other forms."""
    word = without_elision(word)
    if not word.isalpha() or is_piece(word):
        return ""
    if not word.isascii():
        own = [name for script, name in _SCRIPT_LANGUAGES if script.search(word)]
        languages = own or languages or tuple(_MARKERS)
    starts = [_start(word, language) for language in languages]
    # Each is the beginning of the same word, so that the shortest includes the others.
    shortest = min((start for start in starts if len(start) >= _MIN_START), key=len, default="")
    return shortest and shortest + START


@lru_cache(1024)
def _start(word: str, language: str) -> str:
    """What a word and its stem begin with in common."""
    from Stemmer import Stemmer

    # In Portuguese the vowel before an ending that is left changes: migração, migrações.
    stem = Stemmer(language).stemWord(word).rstrip("ãõ")
    length = min(len(word), len(stem))
    while fold_marks(word[:length]) != fold_marks(stem[:length]):
        length -= 1
    return word[:length]
