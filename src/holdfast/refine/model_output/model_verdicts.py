"""What a model said of statements that a brief may tell (`by_model.brief_review` asks it). Imports
little, because hooks make briefs, too.
"""

from __future__ import annotations

import json

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Verdict
from holdfast.store.protocol import Reader

# The kinds of the stored answers: a verdict on one record, and that a bank was reviewed.
VERDICT, REVIEW = "verdict", "brief review"


class ModelVerdict(NamedTuple):
    """What a model said of a record. `rewritten` is the record in the model's words, "" if its own
    are better."""

    verdict: Verdict
    time: str
    model: str
    why: str = ""
    rewritten: str = ""


def model_verdicts(reader: Reader, bank: str) -> dict[str, ModelVerdict]:
    """The latest verdict of a model on each record, by its URI."""
    found: dict[str, ModelVerdict] = {}
    for one in reader.summaries.of_kind(bank, VERDICT):
        item: dict[str, str] = json.loads(one.content)
        said = Verdict(item["verdict"]), one.time, one.model
        found[item["uri"]] = ModelVerdict(*said, item["why"], item["rewritten"])
    return found


def last_review(reader: Reader, bank: str) -> str:
    """When a model was last asked about all that was to be asked of a bank; "" if it never was."""
    return max((one.time for one in reader.summaries.of_kind(bank, REVIEW)), default="")
