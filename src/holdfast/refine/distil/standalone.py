"""Makes a statement understandable without its conversation.

Words that only continue the conversation are taken off its start, what stood above it in a list is
put before it, and where it does not say what it is about, that is added in brackets. Otherwise the
words stay as they were written. What neighbours have to be said with it is for `completion`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import capitalize, collapse_spaces, cut, sentences, without_bold
from holdfast.refine.distil.features import content_words
from holdfast.refine.distil.statements import Statement
from holdfast.regex import regex


class StandaloneLimits(NamedTuple):
    """When a subject is added, and how long the result may get."""

    max_chars: int = 400
    # A statement that shares so many words with the subject names it itself.
    shared_words: int = 3
    # A first sentence of fewer words ("Done.", "All fixed.") is left out before another.
    min_first_words: int = 3
    # Letters by which a statement and what stands above it are the same.
    same_letters: int = 12


_LIMITS = StandaloneLimits()

# What begins so is about the sentence before it.
POINTS_BACK = regex(
    r"^\W*(?:this|that|these|those|it|they|which|else|otherwise|both|neither|same|such)\b", re.I
)
# Words before a statement. Those of the first kind may belong to it ("No references remain", "good
# defaults", "no-op"): they are left out only where a mark sets them apart.
_OPENER = regex(
    r"^(?:(?:(?:yes|no|yep|yeah|right|sure|done|great|perfect|good|nice|excellent|thanks|well|"
    r"finally|all (?:done|set)|in short|to be clear|as expected|confirmed|verified|note|fyi)"
    r"(?:[,.!:;—–]+\s*|\s+[—–-]+\s+)|"
    r"(?:so|ok(?:ay)?|got it|now|also|and|but|then)(?:[,.!:;—–]+\s*|\s+[—–-]*\s*)))+",
    re.IGNORECASE,
)
# The number of a step or a finding: its neighbours are not beside it.
_NUMBER = regex(
    r"^[^\w`(\[]*(?:(?:step|part|problem|fix|issue|finding|change|optimi[sz]ation)\s+)?"
    r"#?\d{1,2}[a-z]?(?:\s*[.):]|\s+[—–-])\s*(?=\S)",
    re.IGNORECASE,
)
_SYMBOLS = regex(r"^(?:[^\w\s`'\"({\[<@#$/.*-]+\s+)+")
# Headings that say nothing about what stands below them.
_GENERIC = regex(
    r"^(?:\W*)(?:(?:(?:final|quick|short|problem|issue|test|fix|code) )?(?:summary|overview|"
    r"results?|details?|notes?|analysis|"
    r"conclusion|status|context|background|highlights|verification|output|steps?|example)|"
    r"(?:key |main |all )?(?:changes?|points?|takeaways?|findings?|files?)(?: (?:made|changed|"
    r"modified|created|updated))?|what (?:changed|was (?:done|changed|fixed)|i did|you get|it does|"
    r"happened)|done|completed?|here(?:['’]s| is| are)\b.*|in (?:short|summary)|the plan|plan|"
    r"this (?:session|round)|so far|for (?:example|reference)|(?:done|perfect|great|excellent)\b.*|"
    r"please|.*\b(?:is|are|been) (?:now )?(?:complete|completed|fixed|resolved|done|ready)|"
    r".*\bI(?:['’]ve| have)?\b.*)\W*$",
    re.IGNORECASE,
)


def standalone(statement: Statement) -> str:
    """The words of a statement without those that only continue the conversation."""
    text = _SYMBOLS.sub("", collapse_spaces(statement.text))
    first, *others = sentences(text) or [text]
    rest = text[len(first) :].lstrip()
    says_little = len(content_words(first)) < _LIMITS.min_first_words
    if others and says_little and not POINTS_BACK.match(rest):
        text = rest
    bare = _OPENER.sub("", text)
    text = capitalize(bare if len(bare) > len(text) // 2 else text)
    lead = _NUMBER.sub("", _SYMBOLS.sub("", without_bold(statement.lead)))
    repeats = text.lower().startswith(lead.lower()[: _LIMITS.same_letters])
    if lead and not repeats and not _GENERIC.match(lead):
        text = f"{lead}: {text}"
    return _shortened(text)


def _shortened(text: str) -> str:
    """A text without the last sentences that do not fit, or cut where that leaves too little."""
    whole = text
    while len(text) > _LIMITS.max_chars:
        *kept, last = sentences(text) or [text]
        text = text[: text.rfind(last)].rstrip() if kept else ""
    return text if len(text) > _LIMITS.max_chars // 2 else cut(whole, _LIMITS.max_chars)


def with_context(text: str, subject: str) -> str:
    """A statement with its subject in brackets, where it does not name that itself."""
    about = content_words(subject)
    if not about or len(about & content_words(text)) >= min(_LIMITS.shared_words, len(about)):
        return text
    return f"{text} ({subject})"
