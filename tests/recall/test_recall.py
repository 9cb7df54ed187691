from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.query import Layer
from holdfast.model.records import Exchange, Turn
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.core.relevance import coverage
from holdfast.recall.lookup.trace import RawState
from holdfast.recall.query.terms import MAX_TERMS, read_terms
from holdfast.settings import Settings
from tests.support.transcripts import Script, bug_hunt

NOW = "2026-11-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    """Two banks: one with a bug hunt and a naming rule, one with a secret plan."""
    folder = tmp_path_factory.mktemp("recall")
    script = bug_hunt()
    script.user("From now on always name the columns after their unit, like height_m.")
    script.assistant("Noted: every column carries its unit, e.g. `height_m` and parseHTTPRequest.")
    script.write(folder / "p")
    other = Script("88888888-0000-4000-8000-000000000001", cwd="/home/dev/other")
    other.user("The retry wrapper of the other project uses exponential backoff")
    other.assistant("Yes, with a timeout of nine seconds and a jitter.")
    other.write(folder / "p")
    settings = Settings(home=folder / "home", claude_dir=folder)
    with Holdfast(settings, now=lambda: NOW) as opened:
        opened.ingest(opened.ingestion.find([folder / "p"]))
        yield opened


@pytest.mark.slow
def test_the_best_hit_answers_the_question(memory: Holdfast) -> None:
    found = memory.recall("why did the import load rows twice", bank="proj")
    assert not found.abstained
    assert any("retry wrapper" in hit.text for hit in found.hits[:3])
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1


def test_every_hit_opens_its_raw_line(memory: Holdfast) -> None:
    for hit in memory.recall("retry wrapper timeout", bank="all").hits:
        trace = memory.show(hit.uri)
        assert trace.raw is not None and trace.raw.state is RawState.PRESENT
        assert (trace.raw.path, trace.raw.line) == (hit.source.path, hit.source.line)
        assert hit.source.id in trace.raw.text


def test_recall_in_one_bank_never_returns_another(memory: Holdfast) -> None:
    ours = memory.recall("retry wrapper exponential backoff jitter", bank="proj")
    theirs = memory.recall("retry wrapper exponential backoff jitter", bank="other")
    both = memory.recall("retry wrapper exponential backoff jitter", bank="all")
    assert all("other project" not in hit.text for hit in ours.hits)
    assert any("other project" in hit.text for hit in theirs.hits)
    assert {hit.bank for hit in both.hits} >= {theirs.hits[0].bank}


def test_recall_marks_what_is_only_loosely_related(memory: Holdfast) -> None:
    query = "kubernetes ingress controller certificate for the import"
    found = memory.recall(query, bank="proj")
    assert found.abstained and found.hits and all(hit.weak for hit in found.hits)
    strict = memory.search.recall_with_plan(query, "proj", RecallPlan())
    assert strict.abstained and strict.hits == ()


def test_weak_hits_follow_the_clear_ones_up_to_the_limit(memory: Holdfast) -> None:
    query = "retry wrapper exponential backoff jitter"
    clear = memory.search.recall_with_plan(query, "proj", RecallPlan()).hits
    found = memory.recall(query, bank="proj").hits
    assert not any(hit.weak for hit in clear) and found[: len(clear)] == clear
    assert len(clear) < len(found) <= 10 and all(hit.weak for hit in found[len(clear) :])
    assert len(memory.recall(query, bank="proj", limit=len(clear)).hits) == len(clear)


def test_a_question_about_unknown_things_finds_nothing(memory: Holdfast) -> None:
    found = memory.recall("zymurgy", bank="proj")
    assert found.abstained and found.hits == ()


@pytest.mark.parametrize("layer", [Layer.TRANSCRIPTS, Layer.OBSERVATIONS, Layer.SUMMARIES])
def test_recall_returns_only_the_requested_layer(memory: Holdfast, layer: Layer) -> None:
    found = memory.recall("nightly import retry wrapper", bank="proj", layers=[layer])
    assert found.hits and {hit.layer for hit in found.hits} == {layer}


def test_code_identifiers_are_found_whole_and_by_their_parts(memory: Holdfast) -> None:
    for query in ("parse http request", "parseHTTPRequest", "height_m", "src/importer.py"):
        assert not memory.recall(query, bank="proj").abstained, query


def test_an_unknown_bank_is_named_in_the_error(memory: Holdfast) -> None:
    with pytest.raises(NotFoundError, match="no bank 'atlantis'") as caught:
        memory.recall("x", bank="atlantis")
    assert "proj" in caught.value.remedy


@pytest.mark.slow
@settings(max_examples=150)
@given(st.text(max_size=200).filter(str.strip))
def test_any_query_is_treated_as_plain_words(memory: Holdfast, query: str) -> None:
    found = memory.recall(query, bank="all")
    assert found.query == query and found.abstained is all(hit.weak for hit in found.hits)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        '"', "'", "((", ")", "*", "a*", "NEAR(a b)", "a AND", "OR", "NOT x", "col:x", "^a", "a + b",
        "{body} : x", "-x", '"unclosed', "🙂", "日本語の質問", "'; DROP TABLE turn; --", "\x00",
        "%", "_", "\\", "a" * 5000, "word " * 20_000, "retry \ud800 wrapper",
    ],
)  # fmt: skip
def test_awkward_queries_are_safe(memory: Holdfast, query: str) -> None:
    before = memory.inventory.counts("all")
    found = memory.recall(query, bank="all")
    assert found.query == query and found.abstained is all(hit.weak for hit in found.hits)
    assert memory.ask(query, bank="all").question == query
    assert memory.inventory.counts("all") == before and before.turns > 5


def test_a_pasted_text_is_reduced_to_its_subject() -> None:
    text = " ".join(f"filler{n}" for n in range(5000)) + " importer importer importer"
    terms = read_terms(text)
    assert len(terms.words) == MAX_TERMS and "importer" in terms.words


def test_question_words_and_small_words_do_not_count() -> None:
    assert read_terms("What did we decide about the cache?").words == ("cache",)
    assert read_terms("why?").words == ("why",)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["cach", "retri", "row"]), st.floats(0.1, 9)), st.text())
def test_coverage_is_between_zero_and_one(weight: dict[str, float], text: str) -> None:
    assert 0.0 <= coverage(weight, text) <= 1.0
    assert coverage(weight, text + " caching retries rows") == pytest.approx(1.0 * bool(weight))


def test_show_leads_from_the_digest_down_to_the_raw_line(memory: Holdfast) -> None:
    (digest,) = memory.recall("nightly import", bank="proj", layers=[Layer.SUMMARIES]).hits
    top = memory.show(digest.uri)
    exchanges = [record for record in top.below if isinstance(record, Exchange)]
    assert len(exchanges) == 2
    middle = memory.show(f"exchange/{exchanges[0].id}")
    turns = [record for record in middle.below if isinstance(record, Turn)]
    assert len(turns) == exchanges[0].last_seq - exchanges[0].first_seq + 1
    bottom = memory.show(turns[0].id[:9])
    assert bottom.above[0].endswith(exchanges[0].id)
    assert bottom.raw is not None and turns[0].text[:30] in bottom.raw.text


@pytest.mark.slow
def test_show_says_if_the_raw_line_is_missing_or_changed(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "p")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(settings, now=lambda: NOW) as opened:
        opened.ingest(opened.ingestion.find([tmp_path / "p"]))
        uri = opened.recall("retry wrapper", bank="all").hits[0].uri
        path.write_bytes(b"x" * path.stat().st_size)
        changed = opened.show(uri).raw
        path.unlink()
        gone = opened.show(uri).raw
        assert changed is not None and changed.state is RawState.CHANGED and not changed.text
        assert gone is not None and gone.state is RawState.GONE
        assert opened.ask("what did the retry wrapper do", bank="all").citations


def test_show_explains_an_unknown_or_ambiguous_id(memory: Holdfast) -> None:
    with pytest.raises(InputError, match="not the name of a record"):
        memory.show("two words")
    with pytest.raises(NotFoundError, match="no record"):
        memory.show("holdfast://turn/ffffffffffffffff")
    digits = "0123456789abcdef"
    ids = [hit.uri.rsplit("/", 1)[-1] for hit in memory.recall("retry import", bank="all").hits]
    shared = next(d for d in digits if sum(id.startswith(d) for id in ids) > 1)
    with pytest.raises(NotFoundError, match="Several records"):
        memory.show(shared)
