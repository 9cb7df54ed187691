"""Extracts the keywords of a piece of work, best first.

Identifiers and file names weigh more than prose, and words of the request more than words of the
reply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, strip_markdown
from holdfast.regex import regex
from holdfast.sources.project import base_name

_TOKEN = regex(r"[A-Za-z_À-ÿ][\w.-]*[\w]|\b[A-Z]{2,}\b")
_IDENTIFIER = regex(r"[a-z0-9][A-Z]|_|\w\.\w|\w-\w.*\d|^[A-Z]{2,6}$")
_NOISE = regex(
    r"\b\w+://\S+|(?:/[\w.@-]+){2,}/?|\b\w+['’](?:t|s|re|ve|ll|d|m)\b|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)


class KeywordWeights(NamedTuple):
    """What a word is worth by where it stands, relative to a plain word of the reply, and how much
    text is read. Chosen by hand: no measurement is recorded."""

    request: float = 2.0
    reply: float = 1.0
    file_name: float = 2.0
    # Factor for a token that looks like an identifier.
    identifier: float = 2.0
    # A repeated word adds weight / (1 + score / repetition): a lower value damps repetition more.
    repetition: float = 3.0
    # Characters of the request and of the reply that are read: both say at the start what they are
    # about.
    characters: int = 4000
    shortest: int = 3
    longest: int = 40


_WEIGHTS = KeywordWeights()

# Words that occur in nearly every coding session and so distinguish none.
COMMON_WORK_WORDS = frozenset(
    "add added all already any check checked code commit create created current done error file "
    "files first fix fixed found here issue line lines look looks made missing new next note now "
    "old open plan problem project read ready remove removed result run running see session set "
    "show step task test tests text thing things time update updated user using way work working "
    "works write written change changes changed good great final finally function implement "
    "implementation following follow request second last correct correctly claude assistant "
    "agent image interrupted instead actually currently summary both two three let know needs "
    "exists existing everything something anything nothing right better several across part "
    "e.g i.e etc true false none null".split()
)


def extract_keywords(
    request: str, reply: str, files: Iterable[str], limit: int = 8
) -> tuple[str, ...]:
    """The keywords of a request, its reply and the files it touched, each as it was spelled."""
    scores: defaultdict[str, float] = defaultdict(float)
    spellings: dict[str, str] = {}
    for text, weight in ((request, _WEIGHTS.request), (reply, _WEIGHTS.reply)):
        for token in _TOKEN.findall(_NOISE.sub(" ", strip_markdown(text[: _WEIGHTS.characters]))):
            _score_token(token, weight, scores, spellings)
    for path in files:
        name = base_name(path)
        bare = name.rsplit(".", 1)[0] if "." in name.strip(".") else name
        if bare and bare.lower() not in COMMON_WORK_WORDS:
            key = stem(bare.lower())
            scores[key] += _WEIGHTS.file_name
            spellings.setdefault(key, bare)
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return tuple(spellings[key] for key in ranked[:limit])


def _score_token(
    token: str, weight: float, scores: defaultdict[str, float], spellings: dict[str, str]
) -> None:
    low = token.lower()
    if not _WEIGHTS.shortest <= len(low) <= _WEIGHTS.longest:
        return
    if low in STOPWORDS or low in COMMON_WORK_WORDS:
        return
    key = stem(low)
    is_identifier = _IDENTIFIER.search(token) is not None
    factor = _WEIGHTS.identifier if is_identifier else 1.0
    scores[key] += weight * factor / (1 + scores[key] / _WEIGHTS.repetition)
    if key not in spellings or (is_identifier and token != low):
        spellings[key] = token if is_identifier else low
