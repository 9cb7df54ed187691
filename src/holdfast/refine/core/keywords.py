"""The words that tell what a piece of work was about, best first.

Names of code (identifiers, files, flags) say more than prose, and words of the request more
than words of the reply.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from holdfast.language import STOPWORDS, plain, stem
from holdfast.sources.project import base_name

_TOKEN = re.compile(r"[A-Za-z_À-ÿ][\w.-]*[\w]|\b[A-Z]{2,}\b")
_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|_|\w\.\w|\w-\w.*\d|^[A-Z]{2,6}$")
_NOISE = re.compile(
    r"\b\w+://\S+|(?:/[\w.@-]+){2,}/?|\b\w+['’](?:t|s|re|ve|ll|d|m)\b|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)

# Words every session has: they tell nothing apart.
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


def extract_keywords(request: str, reply: str, files: Iterable[str], limit: int = 8) -> tuple[str, ...]:
    """The telling words of a request, its reply and the files it touched."""
    scores: defaultdict[str, float] = defaultdict(float)
    spelled: dict[str, str] = {}
    for text, weight in ((request[:4000], 2.0), (reply[:4000], 1.0)):
        for token in _TOKEN.findall(_NOISE.sub(" ", plain(text))):
            _score_token(token, weight, scores, spelled)
    for path in files:
        name = base_name(path)
        root = name.rsplit(".", 1)[0] if "." in name.strip(".") else name
        if root and root.lower() not in COMMON_WORK_WORDS:
            key = stem(root.lower())
            scores[key] += 2.0
            spelled.setdefault(key, root)
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return tuple(spelled[key] for key in ranked[:limit])


def _score_token(
    token: str, weight: float, scores: defaultdict[str, float], spelled: dict[str, str]
) -> None:
    low = token.lower()
    if len(low) < 3 or len(low) > 40 or low in STOPWORDS or low in COMMON_WORK_WORDS:
        return
    key = stem(low)
    name_like = _IDENTIFIER.search(token) is not None
    # The first mention counts fully, repetition ever less.
    scores[key] += weight * (2.0 if name_like else 1.0) / (1 + scores[key] / 3)
    if key not in spelled or (name_like and token != low):
        spelled[key] = token if name_like else low
