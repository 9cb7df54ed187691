"""Reflection by a model: its prompt, and the check of its answer.

The model is given the records that were found, between borders, with the disposition and background
of the bank. Records from outside the project are not shown to it. Only sentences that the records
support are kept, and each claim must name records; its confidence is the model's or what its
sources allow, whichever is less. The evidence without a model is in `reflection`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from holdfast.capture.redact import Redactor
from holdfast.errors import ModelAnswerError
from holdfast.inference.chat import Question, Schema
from holdfast.language import truncate
from holdfast.learn.opinions import confidence_of, sources_needed
from holdfast.model.bank import Bank
from holdfast.model.opinions import Reflection, ReflectionClaim
from holdfast.model.query import Hit, RecallResult
from holdfast.model.trust import ENDED_STATUSES, PEOPLE, Status, Trust
from holdfast.refine.model_output.evidence import SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.model_output.prompts import TEXT_SCHEMA, build_question, object_schema
from holdfast.refine.model_output.responses import parse_object
from holdfast.regex import regex
from holdfast.research.reflection import cite, opinion_part

REFLECTION = "reflection"


class ModelReflectionLimits(NamedTuple):
    """What a model is shown (about 3,500 tokens of records), and what is taken of its answer."""

    records: int = 14
    record_chars: int = 900
    question_chars: int = 1000
    answer_tokens: int = 2000
    # Claims that are read, and kept; the prompt asks for up to five.
    claims_read: int = 20
    claims: int = 5


_LIMITS = ModelReflectionLimits()
# Code in backticks, or citations. An index is none: that of `argv[0]` stands behind a word, and
# records are numbered from one.
_CODE_OR_CITATIONS = regex(r"`[^`\n]{1,400}`|(?: |(?<![\w)\]\"'\[]))(?:\[[1-9]\d{0,8}\]){1,40}")
_NUMBER = regex(r"\[(\d{1,9})\]")
# Citations behind the end of a sentence, which would be taken for the start of the next.
_TRAILING_CITATIONS = regex(
    r"(?<=[^\s.!?…])([.!?…]{1,9}[\"'”’)*_`]{0,9})[ \t]{0,9}"
    r"((?:\[\d{1,9}\][ \t]{0,9}){1,40})(?=$|[^a-z\s])",
    re.MULTILINE,
)

_TASK = """\
You think about a question for the memory of a project. Each record begins with a line of its
number. Reason from the records alone, as one who is:
- skeptical {skepticism} of 5: the higher, the more independent records you want before believing
- literal {literalism} of 5: the higher, the closer you keep to the exact words
- empathic {empathy} of 5: the higher, the more you tell of what people felt and wanted
{background}
The question: {question}

Give:
- answer: what you make of it, two to six sentences, in the language of the question, naming the
  records as [1]; say plainly what the records do not tell
- claims: up to five sentences that you believe, each with the numbers of the records for and
  against it, and your confidence from 0 to 1"""

_NUMBERS: Schema = {"type": "array", "items": {"type": "integer"}}
_CLAIM = object_schema(
    sentence=TEXT_SCHEMA,
    **{"for": _NUMBERS},  # a keyword of Python
    against=_NUMBERS,
    confidence={"type": "number"},
)
FORM = object_schema(answer=TEXT_SCHEMA, claims={"type": "array", "items": _CLAIM})


class ModelClaim(NamedTuple):
    """A claim of a model, with the numbers of the records for and against it."""

    sentence: str
    supporting: tuple[int, ...]
    denying: tuple[int, ...]
    confidence: float


class ModelReflection(NamedTuple):
    """What a model answered, unchecked."""

    answer: str
    claims: tuple[ModelClaim, ...]


def shown_hits(found: RecallResult) -> list[Hit]:
    """The records that a model is shown: none from outside, and none that no longer hold."""
    hits = [hit for hit in found.hits if hit.status not in ENDED_STATUSES and not hit.weak]
    return [hit for hit in hits if hit.trust is not Trust.EXTERNAL][: _LIMITS.records]


def reflection_prompt(bank: Bank, query: str, hits: Sequence[Hit]) -> Question:
    """The prompt for a reflection on a question."""
    disposition = bank.disposition
    background = f"- speaking for: {bank.background}" if bank.background else ""
    task = _TASK.format(
        skepticism=disposition.skepticism, literalism=disposition.literalism,
        empathy=disposition.empathy, background=background,
        question=truncate(query, _LIMITS.question_chars),
    )  # fmt: skip
    texts = [
        f"({hit.time[:10]}, {hit.kind}, {hit.trust.value}{_endings(hit)}) "
        f"{hit.text[: _LIMITS.record_chars]}"
        for hit in hits
    ]
    return build_question(task, texts, FORM, _LIMITS.answer_tokens, noun="record")


def _endings(hit: Hit) -> str:
    """What of a record a model must not take for what holds."""
    return "".join(f"; no longer valid, {one.label}: {one.sentence!r}" for one in hit.ended)


def read_model_reflection(text: str) -> ModelReflection:
    """A model's answer, read into types; ModelAnswerError if it has none."""
    whole = parse_object(text)
    answer: object = whole.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise ModelAnswerError("it has no answer.")
    items: object = whole.get("claims")
    listed = cast(list[object], items)[: _LIMITS.claims_read] if isinstance(items, list) else []
    claims: list[ModelClaim] = []
    for item in listed:
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        sentence, confidence = fields.get("sentence"), fields.get("confidence")
        if isinstance(sentence, str) and isinstance(confidence, int | float):
            supporting, denying = _numbers(fields, "for"), _numbers(fields, "against")
            claims.append(ModelClaim(sentence, supporting, denying, float(confidence)))
    return ModelReflection(answer, tuple(claims))


def _numbers(fields: dict[str, Any], name: str) -> tuple[int, ...]:
    value: object = fields.get(name)
    items = cast(list[object], value) if isinstance(value, list) else []
    return tuple(dict.fromkeys(item for item in items if isinstance(item, int)))


def check_reflection(
    model_answer: ModelReflection,
    hits: Sequence[Hit],
    bank: Bank,
    draft: Reflection,
    author: str,
    redactor: Redactor,
) -> Reflection:
    """The draft, which is the evidence, with the supported parts of a model's answer in its place;
    the draft with a caveat if nothing is supported."""
    texts = [hit.text for hit in hits]
    evidence = Evidence([*texts, draft.query], [*texts, draft.query, bank.background])
    text = _without_unknown_citations(clean_text(model_answer.answer), len(hits))
    text = _TRAILING_CITATIONS.sub(lambda m: f" {m.group(2).rstrip()}{m.group(1)} ", text)
    answer = redactor.redact(evidence.supported_sentences(text, SUMMARY_SHARE)).text
    if not answer:
        problem = "The evidence alone: the records support no sentence of the model's answer."
        return replace(draft, caveats=(*draft.caveats, problem))
    claims = [_check_claim(claim, hits, bank, evidence, redactor) for claim in model_answer.claims]
    kept = tuple(claim for claim in claims if claim is not None)[: _LIMITS.claims]
    parts = [answer, *opinion_part(draft.opinions)]
    believed = [c.confidence for c in kept if c.believed]
    confidence = max(believed) if believed else max([c.confidence for c in kept] or [0.0]) / 2
    return replace(
        draft,
        answer="\n\n".join(parts),
        confidence=round(confidence, 3),
        author=author,
        claims=kept,
        citations=cite(hits),
    )


def _without_unknown_citations(text: str, count: int) -> str:
    """A text without citations of records that were not shown."""

    def keep_shown(found: re.Match[str]) -> str:
        part = found.group()
        if part.startswith("`"):
            return part
        numbers = [n for n in map(int, _NUMBER.findall(part)) if n <= count]
        space = " " if part.startswith(" ") and numbers else ""
        return space + "".join(f"[{n}]" for n in numbers)

    return _CODE_OR_CITATIONS.sub(keep_shown, text)


def _check_claim(
    claim: ModelClaim,
    hits: Sequence[Hit],
    bank: Bank,
    evidence: Evidence,
    redactor: Redactor,
) -> ReflectionClaim | None:
    """The claim with the confidence that its sources allow; None if no record supports it."""
    sentence = redactor.redact(clean_text(claim.sentence)).text
    supporting, denying = (
        tuple(n for n in numbers if 1 <= n <= len(hits))
        for numbers in (claim.supporting, claim.denying)
    )
    if not supporting or not evidence.supports(sentence, SUMMARY_SHARE):
        return None
    skepticism = bank.disposition.skepticism
    sources = len({hits[n - 1].session or hits[n - 1].uri for n in supporting})
    allowed = confidence_of(sources, len(denying), sources, skepticism)
    is_guess = not any(_is_by_person(hits[n - 1]) for n in supporting)
    is_believed = sources >= sources_needed(skepticism) and not is_guess
    confidence = round(min(allowed, max(0.0, claim.confidence)), 3)
    return ReflectionClaim(
        sentence, confidence, is_believed, sources, supporting, denying, is_guess
    )


def _is_by_person(hit: Hit) -> bool:
    """Whether a record is what a person said, wrote or verified."""
    return hit.status is Status.VERIFIED or hit.trust in PEOPLE
