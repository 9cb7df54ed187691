"""What is worth retaining of an exchange, by rules, from what tools prove and people state.

Three kinds: what was done (*experience*), what holds here (*world*: how tests are run, what a
person laid down, what the agent found to be the cause and then mended), and what was noticed
(*observation*: an error and what ended it, files that change together). A few an exchange at most;
words that only narrate are left out, and nothing is taken from outside the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from holdfast.language import cut, names, sentences
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Network
from holdfast.model.opinions import Sighting
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.refine.core.commands import Command, find_error, is_missing_dependency, parse_command
from holdfast.refine.core.passages import date_words, split_identifiers
from holdfast.refine.memories.salience import (
    LONGEST,
    is_lasting_cause,
    is_outside,
    is_telling_title,
    is_vague,
    lays_down,
    names_cause,
    roots,
)
from holdfast.sources.project import base_name

MOST = 4
WHAT_LIMIT = LONGEST
WHY_LIMIT = 200
# A longer message of a person is pasted: a plan, a log, orders for an agent.
TYPED = 1500
_READ = 4000
_FILES = 3
_NAMED = 2
_TOGETHER_FILES = 6
_TOGETHER_SESSIONS = 3

_DID = re.compile(
    r"^(?:i(?:['’]ve| have)? (?:now |also |just )?)?(?P<verb>fixed|added|changed|moved|renamed|"
    r"removed|implemented|updated|replaced|refactored|created|wrote|extracted|split|introduced|"
    r"switched|migrated|corrected|made|rewrote|deleted|merged|released|resolved|simplified|"
    r"converted|bumped|reverted|configured|built|set up|wired|documented)\b",
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
    "document": "Documented", "improve": "Improved", "tune": "Tuned", "optimize": "Optimized",
    "clean": "Cleaned", "drop": "Dropped", "configure": "Configured", "increase": "Increased",
}  # fmt: skip
_GENERATED = re.compile(r"(?:lock|\.lock|-lock\.\w+|\.sum|\.min\.\w+|\.snap|\.svg|\.map)$")


def retain_exchange(exchange: Exchange, turns: Sequence[Turn], by_person: bool) -> list[Sighting]:
    """What to retain of one exchange, the best first. Where no person asked (in the session of a
    subagent), what was asked lays nothing down."""
    found: list[Sighting] = []
    ran = [
        (turn, command)
        for turn in turns
        if turn.tool is not None and turn.tool.name in signals.SHELL_TOOLS
        if (command := parse_command(turn.tool)) is not None
    ]
    cause = _cause(exchange, turns)
    done = _experience(exchange, turns, cause)
    found += [done] if done else []
    found += _laid_down(exchange, turns) if by_person else []
    found += _errors(exchange, turns, {turn.id: command for turn, command in ran}, cause)
    mended = exchange.type is ExchangeType.BUGFIX or _tested(turns)
    if cause and mended and exchange.outcome is Outcome.DONE:
        found += _world(exchange, cause)
    found += _commands(exchange, ran)
    return distinct(found)[:MOST]


def distinct(found: Iterable[Sighting]) -> list[Sighting]:
    """Without near-duplicates: the first of them stands, strengthened by the others' evidence."""
    kept: dict[str, Sighting] = {}
    known_by: dict[str, frozenset[str]] = {}
    for one in found:
        own = roots(one.what)
        same = next(
            (
                key
                for key, others in known_by.items()
                if kept[key].network is one.network and _near(own, others)
            ),
            one.key,
        )
        known = kept.get(same)
        if known is None:
            kept[one.key], known_by[one.key] = one, own
            continue
        evidence = tuple(dict.fromkeys((*known.evidence, *one.evidence)))
        kept[same] = known._replace(evidence=evidence, why=known.why or one.why)
    return list(kept.values())


def _near(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= 0.85 * max(len(one), len(other), 1)


def key_of(network: Network, what: str) -> str:
    """What makes a memory itself: its network and its words, in any order and form."""
    return f"{network.value}:{content_id(*sorted(roots(what)))}"


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
    context = f"{date_words(x.started)} {network.value} {where} {split_identifiers(what)}"
    return Sighting(
        key or key_of(network, what),
        x.first_seq,
        x.ended or x.started,
        network,
        what,
        x.trust if trust is None else trust,
        where.strip() if where else ", ".join(x.files_modified[:_FILES]),
        who or ", ".join(dict.fromkeys(names(what, 4))),
        cut(why, WHY_LIMIT),
        context.strip(),
        (uri("exchange", x.id), *proof),
        needs,
    )


def _tested(turns: Sequence[Turn]) -> bool | None:
    """How the last run of the tests ended."""
    runs = [t.tool.ok for t in turns if t.tool is not None and signals.ran_tests(t)]
    return runs[-1] if runs else None


def _experience(x: Exchange, turns: Sequence[Turn], cause: str) -> Sighting | None:
    """What was done: changes that tools prove, in the words of a commit or of the reply."""
    commits = [message for turn in turns if (message := signals.commit_message(turn))]
    changed = [path for path in x.files_modified if not is_outside(path)]
    lead = _lead(x, turns, commits) if changed or commits else ""
    if not lead:
        return None
    if changed and not any(base_name(path) in lead for path in changed):
        more = len(changed) - _NAMED
        lead += f" in {', '.join(changed[:_NAMED])}" + (f" and {more} more" if more > 0 else "")
    proof = [t for t in turns if t.tool is not None and t.tool.name in signals.EDIT_TOOLS][:2]
    tests = [t for t in turns if signals.ran_tests(t)]
    return sighting(
        x,
        Network.EXPERIENCE,
        cut(lead, WHAT_LIMIT - 45) + _verdict(tests),
        where=", ".join(changed[:_FILES]),
        why=cause or _asked(turns),
        evidence=[*proof, *tests[-1:]],
    )


def _lead(x: Exchange, turns: Sequence[Turn], commits: Sequence[str]) -> str:
    if commits and len(commits[-1].split()) >= 3:
        return f"Committed “{cut(commits[-1], 140)}”"
    reply = next((t.text for t in reversed(turns) if t.role is Role.ASSISTANT and t.text), "")
    for sentence in sentences(reply[:_READ]):
        did = _DID.match(sentence)
        told = sentence[did.start("verb") :].rstrip(".") if did else ""
        if len(roots(told)) >= 4 and not is_vague(told) and not told.endswith((":", "…")):
            return cut(told[:1].upper() + told[1:], 170)
    first, _, rest = x.title.partition(" ")
    past = _PAST.get(first.lower().rstrip(":"))
    if past and is_vague(f"{past} {rest}"):
        return ""
    if past and len(rest.split()) >= 2:
        begun = x.outcome in (Outcome.INTERRUPTED, Outcome.FAILED, Outcome.OPEN)
        verb = first.lower().rstrip(":")
        return f"Began to {verb} {rest}" if begun else f"{past}{first[len(verb) :]} {rest}"
    if not is_telling_title(x.title):
        return ""
    mended = x.type is ExchangeType.BUGFIX and _tested(turns)
    return f"{'Fixed' if mended else 'Worked on'} “{cut(x.title, 120)}”"


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
        if turn.role is not Role.ASSISTANT or not names_cause(turn.text):
            continue
        for sentence in sentences(turn.text[:_READ]):
            if is_lasting_cause(sentence):
                return sentence
    return ""


def _world(x: Exchange, sentence: str) -> list[Sighting]:
    where = ", ".join((*x.files_modified, *x.files_read)[:_FILES])
    return [sighting(x, Network.WORLD, sentence, where=where)]


def _laid_down(x: Exchange, turns: Sequence[Turn]) -> list[Sighting]:
    """What the person decided or laid down, in their words."""
    found: list[Sighting] = []
    for turn in turns:
        if turn.role is not Role.USER or turn.trust is Trust.EXTERNAL or len(turn.text) > TYPED:
            continue
        for sentence in sentences(turn.text):
            ordered = sentence.split(" ", 1)[0].lower() in _PAST
            if not ordered and lays_down(sentence):
                who = turn.speaker or "user"
                found.append(
                    sighting(x, Network.WORLD, sentence, who=who, trust=turn.trust, evidence=[turn])
                )
    return found[:1]


def _errors(
    x: Exchange, turns: Sequence[Turn], ran: Mapping[str, Command], cause: str
) -> list[Sighting]:
    """An error that a command met, and what ended it; one that nothing ended is worth noting once
    it is met again."""
    failed: dict[str, tuple[Turn, str]] = {}
    changed: dict[str, list[str]] = {}
    for turn in turns:
        tool = turn.tool
        if tool is None or turn.trust is Trust.EXTERNAL:
            continue
        if tool.name in signals.EDIT_TOOLS and tool.ok is not False and tool.target:
            for files in changed.values():
                files.append(tool.target)
        command = ran.get(turn.id)
        if command is None:
            continue
        name = command.name
        if tool.ok and command.is_project_command and changed.get(name):
            return [_ended(x, name, failed[name], turn, changed[name], cause)]
        error = _error_of(tool, command)
        if error:
            failed[name] = turn, error
            # No change to a file provides what is not installed.
            changed |= {} if is_missing_dependency(error) else {name: []}
    return [
        sighting(
            x, Network.OBSERVATION, f"`{name}` fails with “{error}”", evidence=[turn], needs=2
        )
        for name, (turn, error) in list(failed.items())[:1]
    ]  # fmt: skip


def _error_of(tool: ToolCall, command: Command) -> str:
    error = find_error(tool.result) if tool.ok is False else ""
    return error if command.is_project_command or is_missing_dependency(error) else ""


def _ended(
    x: Exchange, name: str, failed: tuple[Turn, str], passed: Turn, files: list[str], cause: str
) -> Sighting:
    first, error = failed
    where = ", ".join(list(dict.fromkeys(files))[:_FILES])
    what = f"`{name}` failed with “{error}”; it passed after changes to {where}"
    return sighting(x, Network.OBSERVATION, what, why=cause, where=where, evidence=[first, passed])


def _commands(x: Exchange, ran: Sequence[tuple[Turn, Command]]) -> list[Sighting]:
    """How things are run here: what ran the tests, and other commands of the project once a
    second session runs them."""
    found: list[Sighting] = []
    for turn, command in ran:
        went_well = turn.tool is not None and turn.tool.ok
        if not went_well or not command.is_project_command or turn.trust is Trust.EXTERNAL:
            continue
        what = f"The tests run with `{command.name}`" if command.runs_tests else (
            f"`{command.name}` is run in this project, and succeeds"
        )  # fmt: skip
        key = f"{Network.WORLD.value}:{content_id('command', command.name)}"
        needs = 1 if command.runs_tests else 2
        found.append(
            sighting(
                x, Network.WORLD, what, where=" ", trust=turn.trust, evidence=[turn], needs=needs,
                key=key,
            )
        )  # fmt: skip
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
