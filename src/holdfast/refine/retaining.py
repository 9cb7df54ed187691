"""What is worth retaining of an exchange, by rules, from what tools prove and people state.

Three kinds: what was done (*experience*), what holds here (*world*: how tests are run, what a
person laid down, what the agent found to be the cause and then mended), and what was noticed
(*observation*: an error and what ended it, files that change together). A few an exchange at most;
words that only narrate are left out, and nothing is taken from outside the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from holdfast.language import STOPWORDS, cut, decides, is_chatter, names, sentences, stem, words
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Network
from holdfast.model.mind import Sighting
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine import signals
from holdfast.refine.commands import Command, command_of, error_in
from holdfast.refine.passages import date_words, parts_of_names
from holdfast.sources.project import base_name

MOST = 4
WHAT_LIMIT = 280
WHY_LIMIT = 200
# A longer message of a person is pasted: a plan, a log, orders for an agent.
TYPED = 1500
_READ = 4000
_FILES = 3
_TOGETHER_FILES = 6
_TOGETHER_SESSIONS = 3

_DID = re.compile(
    r"^(?:i(?:['’]ve| have)? (?:now |also |just )?)?(?P<verb>fixed|added|changed|moved|renamed|"
    r"removed|implemented|updated|replaced|refactored|created|wrote|extracted|split|introduced|"
    r"switched|migrated|corrected|made|rewrote|deleted|merged|released|resolved|simplified|"
    r"converted|bumped|reverted|enabled|disabled|configured|built|set up|wired|documented)\b",
    re.IGNORECASE,
)
_PAST = {
    "fix": "Fixed", "add": "Added", "change": "Changed", "move": "Moved", "rename": "Renamed",
    "remove": "Removed", "implement": "Implemented", "update": "Updated", "replace": "Replaced",
    "refactor": "Refactored", "create": "Created", "write": "Wrote", "extract": "Extracted",
    "split": "Split", "introduce": "Introduced", "switch": "Switched", "migrate": "Migrated",
    "correct": "Corrected", "make": "Made", "rewrite": "Rewrote", "delete": "Deleted",
    "merge": "Merged", "simplify": "Simplified", "convert": "Converted", "bump": "Bumped",
    "revert": "Reverted", "enable": "Enabled", "disable": "Disabled", "build": "Built",
    "document": "Documented", "improve": "Improved", "support": "Supported", "use": "Used",
    "clean": "Cleaned", "drop": "Dropped", "configure": "Configured", "increase": "Increased",
}  # fmt: skip
_CAUSE = re.compile(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|culprit) (?:is|was)|"
    r"caused by|turns? out|because|happens when|fails? when|due to|the reason)\b",
    re.IGNORECASE,
)
_LAYS_DOWN = re.compile(
    r"\b(?:always|never|must(?: not|n['’]t)?|from now on|remember(?: that)?|do not|don['’]t ever|"
    r"only ever|convention|the rule is|policy)\b",
    re.IGNORECASE,
)
# Asking, guessing, or speaking of this very conversation.
_IDLE = re.compile(
    r"^(?:please|can you|could you|would you|should i|shall|maybe|perhaps|i think|i guess|i'll|"
    r"i will|let me|let['’]s|now|next|then|and |but |so |also|wait|hmm|ok|yes|no\b|sorry|thanks|"
    r"you['’]?(?:re| are)? |see |look|what|why|how)\b|\?$|:$|…$|\b(?:above|below|"
    r"this (?:file|message|session|conversation)|as (?:you|i) (?:said|asked|mentioned))\b",
    re.IGNORECASE,
)
_NOISE = re.compile(r"^[\W\d_]|[{}<>|]|\\n|https?://|^\S+$")
_GENERATED = re.compile(r"(?:lock|\.lock|-lock\.\w+|\.sum|\.min\.\w+|\.snap|\.svg|\.map)$")


def retain_exchange(exchange: Exchange, turns: Sequence[Turn], by_person: bool) -> list[Sighting]:
    """What to retain of one exchange, the best first. Where no person asked (in the session of a
    subagent), what was asked lays nothing down."""
    found: list[Sighting] = []
    cause = _cause(exchange, turns)
    done = _experience(exchange, turns, cause)
    found += [done] if done else []
    found += _laid_down(exchange, turns) if by_person else []
    found += _errors(exchange, turns, cause)
    if cause and exchange.outcome is Outcome.DONE and _tested(turns) is not False:
        found += _world(exchange, cause, cause_of=True)
    found += _commands(exchange, turns)
    return distinct(found)[:MOST]


def distinct(found: Iterable[Sighting]) -> list[Sighting]:
    """Without near-duplicates: the first of them stands, strengthened by the others' evidence."""
    kept: dict[str, Sighting] = {}
    roots: dict[str, frozenset[str]] = {}
    for one in found:
        own = _roots(one.what)
        same = next(
            (
                key
                for key, others in roots.items()
                if kept[key].network is one.network and _near(own, others)
            ),
            one.key,
        )
        known = kept.get(same)
        if known is None:
            kept[one.key], roots[one.key] = one, own
            continue
        evidence = tuple(dict.fromkeys((*known.evidence, *one.evidence)))
        kept[same] = known._replace(evidence=evidence, why=known.why or one.why)
    return list(kept.values())


def _near(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= 0.85 * max(len(one), len(other), 1)


def _roots(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS)


def key_of(network: Network, what: str) -> str:
    """What makes a memory itself: its network and its words, in any order and form."""
    return f"{network.value}:{content_id(*sorted(_roots(what)))}"


def sighting(
    exchange: Exchange,
    network: Network,
    what: str,
    *,
    why: str = "",
    where: str = "",
    who: str = "",
    trust: Trust | None = None,
    evidence: Sequence[Turn] = (),
    needs: int = 1,
    key: str = "",
) -> Sighting:
    """A sighting with what is the same for all of an exchange."""
    x = exchange
    what = cut(what, WHAT_LIMIT)
    proof = tuple(uri("turn", turn.id) for turn in evidence[:3])
    context = f"{date_words(x.started)} {network.value} {where} {parts_of_names(what)}"
    return Sighting(
        key or key_of(network, what),
        x.first_seq,
        x.ended or x.started,
        network,
        what,
        x.trust if trust is None else trust,
        where or ", ".join(x.files_modified[:_FILES]),
        who or ", ".join(dict.fromkeys(names(what, 4))),
        cut(why, WHY_LIMIT),
        context.strip(),
        (uri("exchange", x.id), *proof),
        needs,
    )


def _tested(turns: Sequence[Turn]) -> bool | None:
    """How the last run of the tests ended."""
    runs = [t.tool.ok for t in turns if t.tool is not None and signals.is_test(t)]
    return runs[-1] if runs else None


def _experience(x: Exchange, turns: Sequence[Turn], cause: str) -> Sighting | None:
    """What was done: changes that tools prove, in the words of a commit or of the reply."""
    commits = [message for turn in turns if (message := signals.commit_message(turn))]
    if not (x.files_modified or commits):
        return None
    lead = _lead(x, turns, commits)
    if not lead:
        return None
    files = [path for path in x.files_modified if base_name(path) not in lead]
    if files and len(files) == len(x.files_modified):
        more = len(files) - _FILES
        lead += f" in {', '.join(files[:_FILES])}" + (f" and {more} more" if more > 0 else "")
    proof = [t for t in turns if t.tool is not None and t.tool.name in signals.EDITORS][:2]
    tests = [t for t in turns if signals.is_test(t)]
    return sighting(
        x,
        Network.EXPERIENCE,
        cut(lead, WHAT_LIMIT - 60) + _verdict(tests),
        why=cause or _asked(turns),
        evidence=[*proof, *tests[-1:]],
    )


def _lead(x: Exchange, turns: Sequence[Turn], commits: Sequence[str]) -> str:
    if commits and len(commits[-1].split()) >= 3:
        return f"Committed “{cut(commits[-1], 140)}”"
    reply = next((t.text for t in reversed(turns) if t.role is Role.ASSISTANT and t.text), "")
    for sentence in sentences(reply[:_READ]):
        did = _DID.match(sentence)
        if did and len(_roots(sentence)) >= 4 and not sentence.endswith((":", "…")):
            told = sentence[did.start("verb") :].rstrip(".")
            return cut(told[:1].upper() + told[1:], 200)
    first, _, rest = x.title.partition(" ")
    past = _PAST.get(first.lower())
    if past and len(rest.split()) >= 2:
        begun = x.outcome in (Outcome.INTERRUPTED, Outcome.FAILED, Outcome.OPEN)
        return f"Began to {first.lower()} {rest}" if begun else f"{past} {rest}"
    if len(_roots(x.title)) < 3 or _IDLE.search(x.title) or _NOISE.search(x.title):
        return ""
    kind = "fix" if x.type is ExchangeType.BUGFIX else "work"
    return f"Did {kind} on “{cut(x.title, 120)}”" if kind == "work" else f"Fixed “{x.title}”"


def _verdict(tests: Sequence[Turn]) -> str:
    """What the tests said in the end, and before."""
    runs = [turn.tool for turn in tests if turn.tool is not None and turn.tool.ok is not None]
    if not runs:
        return ""
    failed = [run for run in runs[:-1] if run.ok is False]
    if runs[-1].ok is False:
        return "; the tests still fail"
    return "; the tests pass" + (" (they failed before)" if failed else "")


def _asked(turns: Sequence[Turn]) -> str:
    """The person's own words for why it was done, where they gave a reason."""
    for turn in turns:
        if turn.role is Role.USER and len(turn.text) <= TYPED and "because" in turn.text:
            return next((s for s in sentences(turn.text) if "because" in s), "")
    return ""


def _cause(x: Exchange, turns: Sequence[Turn]) -> str:
    """What the agent found to be the cause, if it could know."""
    if x.trust is Trust.EXTERNAL or not any(turn.tool is not None for turn in turns):
        return ""
    for turn in reversed(turns):
        if turn.role is not Role.ASSISTANT or not _CAUSE.search(turn.text):
            continue
        for sentence in sentences(turn.text[:_READ]):
            if _CAUSE.search(sentence) and is_worth(sentence):
                return sentence
    return ""


def is_worth(sentence: str) -> bool:
    """Whether a sentence says something by itself: long enough, about something, no chatter."""
    if not 30 <= len(sentence) <= WHAT_LIMIT or is_chatter(sentence):
        return False
    if _IDLE.search(sentence) or _NOISE.search(sentence):
        return False
    return len(_roots(sentence)) >= 5


def _world(x: Exchange, sentence: str, cause_of: bool = False) -> list[Sighting]:
    where = ", ".join((*x.files_modified, *x.files_read)[:_FILES]) if cause_of else ""
    return [sighting(x, Network.WORLD, sentence, where=where)]


def _laid_down(x: Exchange, turns: Sequence[Turn]) -> list[Sighting]:
    """What the person decided or laid down, in their words."""
    found: list[Sighting] = []
    for turn in turns:
        if turn.role is not Role.USER or turn.trust is Trust.EXTERNAL or len(turn.text) > TYPED:
            continue
        for sentence in sentences(turn.text):
            lays_down = decides(sentence) or _LAYS_DOWN.search(sentence)
            if lays_down and is_worth(sentence):
                who = turn.speaker or "user"
                found.append(
                    sighting(x, Network.WORLD, sentence, who=who, trust=turn.trust, evidence=[turn])
                )
    return found[:1]


def _errors(x: Exchange, turns: Sequence[Turn], cause: str) -> list[Sighting]:
    """An error that a command met, and what ended it; one that nothing ended is worth noting once
    it is met again."""
    failed: dict[str, tuple[Turn, Command, str]] = {}
    changed: dict[str, list[str]] = {}
    for turn in turns:
        tool = turn.tool
        if tool is None or turn.trust is Trust.EXTERNAL:
            continue
        if tool.name in signals.EDITORS and tool.ok is not False and tool.target:
            for files in changed.values():
                files.append(tool.target)
        command = command_of(tool) if tool.name in signals.SHELLS else None
        if command is None:
            continue
        if tool.ok is False and (error := error_in(tool.result)):
            failed[command.name] = turn, command, error
            changed[command.name] = []
        elif tool.ok and command.name in failed and changed[command.name]:
            first, _, error = failed[command.name]
            files = list(dict.fromkeys(changed[command.name]))
            what = (
                f"`{command.name}` failed with “{error}”; it passed after changes to "
                f"{', '.join(files[:_FILES])}"
            )
            return [
                sighting(
                    x, Network.OBSERVATION, what, why=cause, where=", ".join(files[:_FILES]),
                    evidence=[first, turn],
                )
            ]  # fmt: skip
    return [
        sighting(
            x, Network.OBSERVATION, f"`{command.name}` fails with “{error}”", evidence=[turn],
            needs=2,
        )
        for turn, command, error in list(failed.values())[:1]
    ]  # fmt: skip


def _commands(x: Exchange, turns: Sequence[Turn]) -> list[Sighting]:
    """How things are run here: what ran the tests, and other commands of the project once a
    second session runs them."""
    found: list[Sighting] = []
    for turn in turns:
        command = command_of(turn.tool) if turn.tool is not None and turn.tool.ok else None
        if command is None or not command.of_project or turn.trust is Trust.EXTERNAL:
            continue
        what = f"The tests run with `{command.name}`" if command.tests else (
            f"`{command.name}` is run in this project, and succeeds"
        )  # fmt: skip
        key = f"{Network.WORLD.value}:{content_id('command', command.name)}"
        needs = 1 if command.tests else 2
        found.append(sighting(x, Network.WORLD, what, evidence=[turn], needs=needs, key=key))
    return found[:1]


def changed_together(exchanges: Sequence[Exchange]) -> list[Sighting]:
    """Which files one session changed together: worth noting once several have."""
    files = dict.fromkeys(path for x in exchanges for path in x.files_modified)
    ours = sorted(path for path in files if not _GENERATED.search(path))
    if not 2 <= len(ours) <= _TOGETHER_FILES:
        return []
    last = next(x for x in reversed(exchanges) if x.files_modified)
    return [
        sighting(
            last,
            Network.OBSERVATION,
            f"{one} and {other} are often changed together",
            where=f"{one}, {other}",
            who=f"{base_name(one)}, {base_name(other)}",
            needs=_TOGETHER_SESSIONS,
            key=f"{Network.OBSERVATION.value}:{content_id('together', one, other)}",
        )
        for one, other in combinations(ours, 2)
    ]
