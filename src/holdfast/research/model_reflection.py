"""A reflection by a model: it is shown the records that were found, between borders, with the
disposition and background of the bank, and reasons; only what the records bear out is kept.

Records that came from outside the project are not shown. Each sentence of the answer must be made
of the records' words, and each claim must name records; its confidence is the model's or what its
sources allow, whichever is less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from holdfast.capture.redact import Redactor
from holdfast.errors import ModelAnswerError
from holdfast.inference.chat import Question, Schema
from holdfast.language import cut
from holdfast.learn.opinions import confidence_of, sources_needed
from holdfast.model.bank import Bank
from holdfast.model.opinions import Cited, Claim, Reflection
from holdfast.model.query import Hit, Recalled
from holdfast.model.trust import Trust
from holdfast.refine.model_output.evidence import SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.model_output.prompts import build_question
from holdfast.refine.model_output.responses import parse_object
from holdfast.regex import regex
from holdfast.research.reflection import opinion_line

REFLECTION = "reflection"
ANSWER_TOKENS = 2000
_SHOWN = 14
_RECORD = 900
_MOST_CLAIMS = 5
# A record that an answer names.
_NAMED = regex(r" ?\[(\d{1,9})\]")

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
FORM: Schema = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sentence": {"type": "string"},
                    "for": _NUMBERS,
                    "against": _NUMBERS,
                    "confidence": {"type": "number"},
                },
                "required": ["sentence", "for", "against", "confidence"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["answer", "claims"],
    "additionalProperties": False,
}


class ModelReflection(NamedTuple):
    """What a model answered; nothing in it is believed yet."""

    answer: str
    claims: tuple[tuple[str, tuple[int, ...], tuple[int, ...], float], ...]


def shown_hits(found: Recalled) -> list[Hit]:
    """The records that a model is shown."""
    return [hit for hit in found.hits if hit.trust is not Trust.EXTERNAL][:_SHOWN]


def reflection_prompt(bank: Bank, query: str, hits: Sequence[Hit]) -> Question:
    """Ask a model to reflect."""
    mind = bank.disposition
    background = f"- speaking for: {bank.background}" if bank.background else ""
    task = _TASK.format(
        skepticism=mind.skepticism, literalism=mind.literalism, empathy=mind.empathy,
        background=background, question=cut(query, 1000),
    )  # fmt: skip
    texts = [
        f"({hit.time[:10]}, {hit.kind}, {hit.trust.value}) {hit.text[:_RECORD]}" for hit in hits
    ]
    return build_question(task, texts, FORM, ANSWER_TOKENS, noun="record")


def read_model_reflection(text: str) -> ModelReflection:
    """What a model answered, read into types."""
    whole = parse_object(text)
    answer: object = whole.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise ModelAnswerError("it has no answer.")
    items: object = whole.get("claims")
    claims: list[tuple[str, tuple[int, ...], tuple[int, ...], float]] = []
    for item in cast(list[object], items)[:20] if isinstance(items, list) else ():
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        said, sure = fields.get("sentence"), fields.get("confidence")
        if isinstance(said, str) and isinstance(sure, int | float):
            claims.append((said, _numbers(fields, "for"), _numbers(fields, "against"), float(sure)))
    return ModelReflection(answer, tuple(claims))


def _numbers(fields: dict[str, Any], name: str) -> tuple[int, ...]:
    value: object = fields.get(name)
    items = cast(list[object], value) if isinstance(value, list) else []
    return tuple(dict.fromkeys(item for item in items if isinstance(item, int)))


def check_reflection(
    thought: ModelReflection,
    hits: Sequence[Hit],
    bank: Bank,
    draft: Reflection,
    author: str,
    redactor: Redactor,
) -> Reflection:
    """The reflection with what of a thought is borne out; as it was, if too little is."""
    texts = [hit.text for hit in hits]
    evidence = Evidence([*texts, draft.query], [*texts, draft.query, bank.background])
    said = _NAMED.sub(_if_there(len(hits)), clean_text(thought.answer))
    answer = redactor.redact(evidence.supported_sentences(said, SUMMARY_SHARE)).text
    if not answer:
        problem = "By rules alone: nothing in the model's answer was borne out by the records."
        return replace(draft, caveats=(*draft.caveats, problem))
    cited = tuple(
        Cited(n, hit.uri, cut(hit.text, 200), hit.time, hit.session, hit.trust)
        for n, hit in enumerate(hits, 1)
    )
    claims = [_claim(one, hits, bank, evidence, redactor) for one in thought.claims]
    believed = tuple(claim for claim in claims if claim is not None)[:_MOST_CLAIMS]
    parts = [answer]
    parts += ["Opinions:\n" + "\n".join(map(opinion_line, draft.opinions))] * bool(draft.opinions)
    best = max([c.confidence for c in believed if c.believed] or [0.0])
    return replace(
        draft,
        answer="\n\n".join(parts),
        confidence=best or draft.confidence / 2,
        author=author,
        claims=believed,
        voices=(),
        citations=cited,
        caveats=tuple(c for c in draft.caveats if "background" not in c),
    )


def _if_there(count: int) -> Callable[[re.Match[str]], str]:
    """A record that an answer names stays, if it was shown one of that number."""
    return lambda named: named.group() if 1 <= int(named.group(1)) <= count else ""


def _claim(
    one: tuple[str, tuple[int, ...], tuple[int, ...], float],
    hits: Sequence[Hit],
    bank: Bank,
    evidence: Evidence,
    redactor: Redactor,
) -> Claim | None:
    said, favour, against, sure = one
    sentence = redactor.redact(clean_text(said)).text
    ours, others = ([n for n in numbers if 1 <= n <= len(hits)] for numbers in (favour, against))
    if not ours or not evidence.supports(sentence, SUMMARY_SHARE):
        return None
    mind = bank.disposition
    homes = {hits[n - 1].session or hits[n - 1].uri for n in ours}
    allowed = confidence_of(len(homes), len(others), len(homes), mind.skepticism)
    enough = len(homes) >= sources_needed(mind.skepticism)
    confidence = round(min(allowed, max(0.0, sure)), 3)
    return Claim(sentence, confidence, enough, len(homes), tuple(ours), tuple(others))
