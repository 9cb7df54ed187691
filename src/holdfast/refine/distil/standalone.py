"""Makes a statement understandable without its conversation.

Words that only continue the conversation are taken off its start, what stood above it in a list is
put before it, and where it does not say what it is about, that is added in brackets. Otherwise the
words stay as they were written.
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
    r"finally|all (?:done|set|good|clean)|in short|to be clear|as expected|confirmed|verified|note|"
    r"fyi|understood|agreed|exactly|correct|actually|let me (?:clarify|explain)|yup|sorry)"
    r"(?:[,.!:;—–]+\s*|\s+[—–-]+\s+)|"
    r"(?:so|ok(?:ay)?|got it|now|also|and|but|then)(?:[,.!:;—–]+\s*|\s+[—–-]*\s*)))+",
    re.IGNORECASE,
)
# What only says that something follows, before a colon: "One caveat:", "Short answer:", "The diff
# confirms it:", "All tests pass. Summary of changes:".
_PREAMBLE = regex(
    r"^(?:[^.:;`]{0,30}[.!] )?(?:and |but |so )?(?:(?:there(?:['’]s| is| are)|here(?:['’]s| is|"
    r" are)|one|two|three|another|an?|the|my|some|small|important|key|quick|short|main|useful|"
    r"relevant|"
    r"final|last|other|more|also|only|single|real|notable|minor|big|new|extra|first) )*"
    r"(?:caveats?|notes?|nuances?|wrinkles?|clues?|details?|points?|things?|findings?|gotchas?|"
    r"subtlet(?:y|ies)|corrections?|clarifications?|summary|answer|version|conclusion|takeaways?|"
    r"upshot|bottom line|observations?|differences?|exceptions?|options?|"
    r"(?:key |main )?changes?)(?: (?:here|worth noting|to note|to know|to the phrasing|so far|"
    r"(?:of|for) (?:the )?(?:changes?(?: made)?|fix(?:es)?|work|session|PR #?\d+)|(?:are|is|was|"
    r"were)))*: |"
    r"^[^.:;`]{3,60}\b(?:confirms? (?:it|this|that)|is confirmed|checks out): ",
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
    r"summary of (?:the )?(?:changes?|fix(?:es)?|work)(?: made)?|implementation(?: (?:complete|"
    r"details|"
    r"summary|notes))?|(?:the )?(?:key|main|important) (?:changes?|points?|differences?|"
    r"features?)(?: "
    r"(?:were|are|is|of (?:the )?(?:solution|approach|plan|fix)))?|behaviou?r|"
    r"(?:how|why|what|where|when) (?:it|this|that)\b.*|what(?:['’]s| is) \w+(?: (?:it|this|"
    r"that)\b.*)?|"
    r"(?:to|you can) use (?:it|this)|it covers|added sections?|note(?: that)?|"
    r"(?:the|this) (?:plan|solution|approach|fix|implementation|update) (?:now )?(?:includes?|"
    r"covers?|"
    r"provides?|does)|"
    r"please|.*\b(?:is|are|been) (?:now )?(?:complete|completed|fixed|resolved|done|ready)|"
    r".*\bI(?:['’]ve| have)?\b.*)\W*$",
    re.IGNORECASE,
)


# A matter of the conversation that a statement begins with and does not name.
_KNOWN_MATTER = regex(
    r"^the (?:root cause|cause|issue|problem|bug|failure|error|fix|change|patch|workaround|"
    r"solution|"
    r"implementation|update|feature|refactoring|refactor|approach|design|plan)(?=\s+(?:is|was|"
    r"are|were|"
    r"has|had|now|also|adds?|uses?|ensures?|makes?|removes?|keeps?|will|successfully|only|comes?|"
    r"happens?|lies|leverages|addresses|provides|requires?|needs?)\b)",
    re.IGNORECASE,
)


def standalone(statement: Statement) -> str:
    """The words of a statement without those that only continue the conversation."""
    text = without_symbols(collapse_spaces(statement.text))
    first, *others = sentences(text) or [text]
    rest = text[len(first) :].lstrip()
    says_little = len(content_words(first)) < _LIMITS.min_first_words
    if others and says_little and not POINTS_BACK.match(rest):
        text = rest
    bare = _PREAMBLE.sub("", _OPENER.sub("", text))
    text = capitalize(bare if len(bare) > len(text) // 2 else text)
    lead = _lead_of(statement)
    repeats = text.lower().startswith(lead.lower()[: _LIMITS.same_letters])
    if lead and not repeats:
        text = f"{lead}: {text}"
    return _shortened(text)


def without_symbols(text: str) -> str:
    """A text without the marks before it: "✅ Rows are kept"."""
    return _SYMBOLS.sub("", text)


def _lead_of(statement: Statement) -> str:
    """What stands above a statement and says what it is about: its lead or, where that only
    announces something, the heading; "" for none."""
    for above in dict.fromkeys((statement.lead, statement.heading)):
        said = sentences(without_bold(above))
        lead = _NUMBER.sub("", without_symbols(said[-1].rstrip(" .!"))) if said else ""
        if lead and not _GENERIC.match(lead):
            return lead
    return ""


def _shortened(text: str) -> str:
    """A text without the last sentences that do not fit, or cut where that leaves too little."""
    whole = text
    while len(text) > _LIMITS.max_chars:
        *kept, last = sentences(text) or [text]
        text = text[: text.rfind(last)].rstrip() if kept else ""
    return text if len(text) > _LIMITS.max_chars // 2 else cut(whole, _LIMITS.max_chars)


def with_context(text: str, subject: str) -> str:
    """A statement with its subject where it does not name that itself: before it if it begins with
    a matter that only the conversation knows ("The fix reads"), or else in brackets."""
    about = content_words(subject)
    if not about or len(about & content_words(text)) >= min(_LIMITS.shared_words, len(about)):
        return text
    if _KNOWN_MATTER.match(text):
        return f"{subject}: {text}"
    return f"{text} ({subject})"
