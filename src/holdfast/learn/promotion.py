"""Proposals: which patterns should become rules, and which rules should go.

A pattern is ripe with three occurrences from different sources and a confidence of 0.8, if no rule
says the same and nobody refused it. An opinion above 0.9 is proposed for the memory file; only a
person writes it there. A rule is proposed for demotion if people said the opposite
since, or if no file matches its globs. A person decides about a proposal, or the setting that lets
ripe patterns be written; a proposal with text from outside the project always needs a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from holdfast.language import capitalize, truncate
from holdfast.learn.agent_lessons import LESSON, open_lessons
from holdfast.learn.existing_rules import Similarity, find_matching_rule, says_the_same
from holdfast.learn.rule_text import RuleAddition
from holdfast.learn.rule_writing import fingerprint, read_bytes, rules_path
from holdfast.model.curation import Action, in_effect
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal, Rule
from holdfast.model.opinions import Opinion
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.sources.rule_files import any_file_matches
from holdfast.sources.rule_locations import MEMORY_FILE
from holdfast.store.protocol import Reader

# When a pattern is ripe. Lower values propose more, and more that was said in passing. They are
# shown to users as criteria.
MIN_OCCURRENCES = 3
MIN_CONFIDENCE = 0.8
# An opinion is proposed for the memory file above this confidence.
MIN_OPINION_CONFIDENCE = 0.9
DECISIONS_SECTION = "Key Decisions"
OPINIONS_SECTION = "Patterns"
_DECIDED = (Action.APPROVE, Action.REJECT)
# URIs of evidence in the comment behind a rule: the latest.
_MAX_LINKS = 3
# Folders that a rule is confined to; with more it is for the whole project.
_MAX_FOLDERS = 3


def is_ripe(pattern: Pattern) -> bool:
    """Whether a pattern may be proposed as a rule. Its `last` is empty if the opposite was said
    since."""
    enough = pattern.occurrences >= MIN_OCCURRENCES and pattern.confidence >= MIN_CONFIDENCE
    return enough and bool(pattern.last)


def is_firm(opinion: Opinion) -> bool:
    """Whether an opinion may be proposed for the memory file: believed, contradicted by nothing,
    and not from outside the project."""
    is_believed = opinion.status is Status.OBSERVED and not opinion.evidence_against
    is_trusted = opinion.trust is not Trust.EXTERNAL
    return is_believed and is_trusted and opinion.confidence > MIN_OPINION_CONFIDENCE


def refusals_in_effect(reader: Reader, bank: str) -> list[Refusal]:
    """The refusals that were not undone."""
    decisions = {entry.seq for entry in in_effect(reader.curation.log(bank))}
    return [refusal for refusal in reader.rules.refusals(bank) if refusal.seq in decisions]


def propose(
    reader: Reader,
    bank: str,
    root: Path | None,
    now: str,
    similarity: Similarity | None = None,
    user_folder: Path | None = None,
) -> list[Proposal]:
    """All proposals for a bank now. `root` is the folder of its project, `user_folder` that of the
    user's own rules."""
    rules = reader.rules.all(bank)
    ripe = [pattern for pattern in reader.rules.patterns(bank) if is_ripe(pattern)]
    stored = {proposal.id: proposal for proposal in reader.rules.proposals(bank)}
    log = in_effect(reader.curation.log(bank))
    decided = {entry.target for entry in log if entry.action in _DECIDED}
    known_texts = refused_texts(refusals_in_effect(reader, bank))
    proposals: list[Proposal] = []
    for pattern in ripe:
        is_decided = uri("pattern", pattern.id) in decided
        if not is_decided and not _is_known(pattern.content, rules, known_texts, similarity):
            proposals.append(_promotion(pattern, root, now))
            known_texts.append(pattern.content)
    for lesson in open_lessons(log, decided, root, user_folder):
        if not _is_known(lesson.text, rules, known_texts, similarity, is_lesson=True):
            proposals.append(lesson)
            known_texts.append(lesson.text)
    for opinion in reader.opinions.all(bank):
        is_decided = uri("memory", opinion.id) in decided
        if is_firm(opinion) and not is_decided:
            proposal = _opinion_promotion(opinion, root, now)
            if not _is_known(proposal.text, rules, known_texts, similarity):
                proposals.append(proposal)
                known_texts.append(proposal.text)
    proposals += _demotions(ripe, rules, root, now, decided, similarity)
    # A stored proposal keeps its time, and the state of the file that it was shown against.
    return [
        replace(p, made=stored[p.id].made, base=stored[p.id].base, text=stored[p.id].text)
        if p.id in stored and stored[p.id].path == p.path
        else p
        for p in proposals
    ]


def _is_known(
    text: str,
    rules: Sequence[Rule],
    known_texts: Sequence[str],
    similarity: Similarity | None,
    is_lesson: bool = False,
) -> bool:
    """Whether a rule, or a text that was refused or proposed, says the same. Also if a rule says
    the opposite, but not for a lesson: then a person should see the contradiction."""
    if says_the_same(text, known_texts, similarity):
        return True
    found = find_matching_rule(text, rules, similarity)
    return found is not None and not (is_lesson and found.opposes)


def refused_texts(refusals: Sequence[Refusal]) -> list[str]:
    """The texts of refused patterns, opinions and lessons."""
    prefixes = tuple(uri(kind, "") for kind in ("pattern", "memory", LESSON))
    return [refusal.text for refusal in refusals if refusal.target.startswith(prefixes)]


def _promotion(pattern: Pattern, root: Path | None, now: str) -> Proposal:
    path = destination(pattern)
    people = f" by {len(pattern.authors)} people" if len(pattern.authors) > 1 else ""
    return Proposal(
        pattern.bank,
        content_id("proposal", pattern.id),
        ProposalKind.PROMOTE,
        uri("pattern", pattern.id),
        pattern.content,
        pattern.domain,
        path,
        f"stated in {pattern.occurrences} different places{people}; "
        f"confidence {pattern.confidence}",
        now,
        pattern.trust,
        path_globs(pattern),
        pattern.evidence,
        fingerprint(read_bytes(root / path)) if root is not None else "",
    )


def _opinion_promotion(opinion: Opinion, root: Path | None, now: str) -> Proposal:
    target = uri("memory", opinion.id)
    sources = len(opinion.evidence_for)
    people = f"{sources} {'record' if sources == 1 else 'records'}"
    return Proposal(
        opinion.bank,
        content_id("proposal", target),
        ProposalKind.PROMOTE,
        target,
        capitalize(opinion.what),
        "opinions",
        MEMORY_FILE,
        f"believed with a confidence of {opinion.confidence:.2f}, by {people}",
        now,
        opinion.trust,
        (),
        opinion.evidence_for,
        fingerprint(read_bytes(root / MEMORY_FILE)) if root is not None else "",
    )


def _is_opinion(proposal: Proposal) -> bool:
    return proposal.target.startswith(uri("memory", ""))


def destination(pattern: Pattern) -> str:
    """The file for a pattern: the memory file for a decision, the rules of its domain for how
    things are done."""
    return MEMORY_FILE if pattern.decides else rules_path(pattern.domain)


def path_globs(pattern: Pattern) -> tuple[str, ...]:
    """Globs of the folders, or of the file type, that all of the evidence is about; none if it is
    about the whole project."""
    paths = [PurePosixPath(name.replace("\\", "/")) for name in pattern.files]
    if not paths or any(path.is_absolute() or ".." in path.parts for path in paths):
        return ()
    top_folders = dict.fromkeys(path.parts[0] for path in paths if len(path.parts) > 1)
    if len(top_folders) > _MAX_FOLDERS or any(len(path.parts) == 1 for path in paths):
        suffix = paths[0].suffix
        is_common = suffix and all(path.suffix == suffix for path in paths)
        return (f"**/*{suffix}",) if is_common else ()
    return tuple(f"{folder}/**" for folder in top_folders)


def rule_addition(proposal: Proposal, text: str = "") -> RuleAddition:
    """A proposal as an addition to a file; with other words if `text` is given."""
    in_memory_file = OPINIONS_SECTION if _is_opinion(proposal) else DECISIONS_SECTION
    section = in_memory_file if proposal.path == MEMORY_FILE else ""
    links = proposal.evidence[-_MAX_LINKS:]
    return RuleAddition(text or proposal.text, links, proposal.domain, proposal.paths, section)


def may_be_automatic(proposal: Proposal, rules_allowed: bool, memory_file_allowed: bool) -> bool:
    """Whether a proposal may be written without asking a person, given what the settings allow for
    rules and for the memory file. Never if it has text from outside the project, or is an
    opinion."""
    is_allowed = memory_file_allowed if proposal.path == MEMORY_FILE else rules_allowed
    is_trusted = proposal.trust in (Trust.USER, Trust.TEAM)
    is_rule = proposal.kind is ProposalKind.PROMOTE and not _is_opinion(proposal)
    return is_allowed and is_trusted and is_rule


def _demotions(
    ripe: Iterable[Pattern],
    rules: Sequence[Rule],
    root: Path | None,
    now: str,
    decided: set[str],
    similarity: Similarity | None,
) -> list[Proposal]:
    """Proposals to remove rules that people contradict, and rules whose globs match no file."""
    project_rules = [rule for rule in rules if not rule.path.startswith("~/")]
    found: dict[str, Proposal] = {}
    for pattern in ripe:
        match = find_matching_rule(pattern.content, project_rules, similarity)
        if match is not None and match.opposes and pattern.last > match.rule.updated:
            words = truncate(pattern.content, 160)
            reason = f"contradicted in {pattern.occurrences} places since: {words}"
            proposal = _demotion(match.rule, match.sentence, reason, now)
            proposal = replace(proposal, trust=pattern.trust, evidence=pattern.evidence)
            found.setdefault(proposal.target, proposal)
    for rule in project_rules:
        if rule.paths and root is not None and not any_file_matches(root, rule.paths):
            reason = f"never applies: no file is matched by {', '.join(rule.paths)}"
            proposal = _demotion(rule, truncate(rule.text, 200), reason, now)
            found.setdefault(proposal.target, proposal)
    return [proposal for target, proposal in found.items() if target not in decided]


def _demotion(rule: Rule, sentence: str, reason: str, now: str) -> Proposal:
    target = uri("rule", rule.id)
    id = content_id("proposal", target, sentence)
    return Proposal(
        rule.bank, id, ProposalKind.DEMOTE, target, sentence, rule.domain, rule.path, reason, now,
        rule.trust,
    )  # fmt: skip
