"""Questions about the user's own latest work: "Where did we leave off?", "What is next?"."""

from __future__ import annotations

_MAX_CHARACTERS = 500
_PUNCTUATION = "\"'“”().,;:!?…"
# Questions about recent work. Words are replaced by one synonym each and fillers are dropped, so
# "where have I stopped?" and "where did we stop?" become the same phrase. One regular expression
# for all of them would take 8 ms to compile, this takes none.
_SYNONYMS = {
    same: word
    for word, others in {
        "we": "i", "us": "me", "our": "my", "was": "were have had am are did", "do": "doing done",
        "left": "leave", "stopped": "stop paused ended", "last": "latest previous recent",
        "what is": "what's whats", "summarise": "summarize",
        "session": "sessions conversation chat",
    }.items()
    for same in others.split()
}  # fmt: skip
_FILLERS = frozenset(
    "please now then here again just currently still been it this things from with so today most "
    "ok okay and".split()
)
_LEFT = [f"what {be} {it}" for be in ("is", "was") for it in "next left open remaining".split()]
_RECENT_ANYWHERE = (
    "we left off", "what was we working on", "what was we up to", "catch us up",
    "we was working on", "up to speed", "us up to date",
    "remind us where we was", "remind us where we stopped",
    "what was our next steps", "what was the next steps", "show us the next steps",
    *(f"{go} where we" for go in ("continue", "resume", "pick up", "carry on", "go on")),
    *(f"{left} {to}" for left in _LEFT for to in ("to do", "to finish", "to be do", "for us")),
    *(
        f"{verb} {whose} last {talk}"
        for verb in ("summarise", "recap", "sum up", "summary of", "happened in", "was in")
        for whose in ("our", "the")
        for talk in ("session", "work")
    ),
)  # fmt: skip
_RECENT_AT_END = (
    *_LEFT, "where was we", "where was we at", "where was we stopped", "where was we left",
    "we do next", "we need to do next", "we work on next", "what remains", "what remains to be do",
    "our last session",
    *(f"was we {did} last{what}" for did in ("do", "work on", "finish", "change")
      for what in ("", " time", " session")),
)  # fmt: skip
_RECENT_ALONE = frozenset((
    "continue", "resume", "carry on", "go on", "keep going", "next steps", "what was we do",
    "where do we stand", "what is our current task", "what was our current task",
))  # fmt: skip


def asks_for_recent_work(query: str) -> bool:
    """Whether a query asks about the user's own latest work: where it stopped, what is next."""
    said = [
        word.strip(_PUNCTUATION)
        for word in query[:_MAX_CHARACTERS].lower().replace("’", "'").split()
    ]
    text = " ".join(_SYNONYMS.get(word, word) for word in said if word and word not in _FILLERS)
    whole = f" {text} "
    return (
        text in _RECENT_ALONE
        or any(f" {phrase} " in whole for phrase in _RECENT_ANYWHERE)
        or any(whole.endswith(f" {phrase} ") for phrase in _RECENT_AT_END)
    )
