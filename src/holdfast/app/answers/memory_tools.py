"""`MemoryTools`: eight tools that search a memory and cannot change it.

An MCP server offers them, and the memory agent calls them in its own process; both get the same
results for the same arguments. What they return is recorded text: evidence, never an instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from time import perf_counter

from holdfast.app.answers.memory_tool_list import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_MS,
    MEMORY_TOOLS,
    STRATEGIES,
)
from holdfast.app.answers.memory_tool_results import hit_result, strategy_results
from holdfast.app.answers.read_only_memory import ReadOnlyMemory
from holdfast.app.answers.tool import Object, fit
from holdfast.capture.redact import Redactor
from holdfast.model.kinds import read_kinds
from holdfast.model.query import Confidence, Hit, Layer, Passage, RetrieverReport
from holdfast.recall.core.candidates import Candidate, Pool
from holdfast.recall.core.parallel import Retriever, run_retrievers
from holdfast.recall.core.plan import Fusion, RecallPlan
from holdfast.recall.core.relevance import answers, coverage, measure_relevance
from holdfast.recall.core.tuning import DEFAULT_THRESHOLDS
from holdfast.recall.engine import recall
from holdfast.recall.fallback import CLARIFICATION, grep, run_fallbacks
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.query import Query, read_query
from holdfast.recall.query.terms import given_words, has_given_word
from holdfast.recall.ranking.fusion import (
    add_results,
    fuse_by_ranks,
    fuse_by_scores,
    words_only,
)
from holdfast.recall.ranking.hits import KNOWLEDGE_LAYERS, knowledge_of, make_hit
from holdfast.recall.ranking.status import apply_status
from holdfast.recall.retrievers import text as retrievers
from holdfast.research.answering.confidence import confidence_in

# Hits per retriever before fusion: somewhat more than the largest limit a caller may ask for.
_MAX_CANDIDATES = 60
# Where only one kind of knowledge is wanted, most of what is found is filtered out.
_MAX_FILTERED_CANDIDATES = 2000
# The latest sessions that a scan compares with the question; older ones are not found by it.
_MAX_SCANNED_SESSIONS = 200
# Tokens of text that the search with fallbacks returns at most.
_MAX_TOKENS = 20_000
# The retrievers of a hybrid search.
_HYBRID = ("fts", "semantic")
_NO_VECTORS = "Nothing is embedded yet; `holdfast ingest` prepares search by meaning."
_LAYER_DESCRIPTIONS = {
    "rules": "Sections of the files that people review: .claude/rules, CLAUDE.md, memory.md.",
    "summaries": "What each session was about and came to, and the concepts of the project.",
    "observations": "Requests and what came of them, what was retained, and permanent facts.",
    "transcripts": "Every turn of every session.",
    "team": "Commits, pull requests, issues, and what others share.",
}


class MemoryTools(ReadOnlyMemory):
    """The tools, for one memory. The arguments of every handler were checked before."""

    offered = MEMORY_TOOLS

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        return {
            "memory_search_fts": self._full_text,
            "memory_search_vector": lambda given: self._search("vector", given, ("semantic",)),
            "memory_search_hybrid": lambda given: self._search("hybrid", given, _HYBRID),
            "memory_search_multi_strategy": self._multi_strategy,
            "memory_search_with_fallbacks": self._with_fallbacks,
            "memory_list_layers": self._list_layers,
            "memory_scan_recent_sessions": self._scan_recent_sessions,
            "memory_grep_transcripts": self._grep_transcripts,
        }

    def _full_text(self, given: Object) -> Object:
        """By words; what has those of the query comes before what has only synonyms of them."""
        bank, query = self._read(given)
        names = ("direct_fts", "expanded_fts") if _other_terms(query, given) else ("direct_fts",)
        pool, reports = self._run_retrievers(names, bank, query, given, DEFAULT_TIMEOUT_MS)
        fuse_by_scores(pool, words_only())
        problems = [report.problem for report in reports if report.problem]
        limit = given.get("limit", DEFAULT_LIMIT)
        ranked = sorted(pool.ranked(), key=lambda c: "direct_fts" not in c.scores)[:limit]
        hits = [make_hit(self._reader, one) for one in ranked]
        return {"searchType": "fts", **_scope(given), **self._results(hits, bank, problems)}

    def _search(self, kind: str, given: Object, names: Sequence[str]) -> Object:
        bank, query = self._read(given)
        pool, reports = self._run_retrievers(names, bank, query, given, DEFAULT_TIMEOUT_MS)
        if len(reports) == 1:
            for candidate in pool:
                candidate.score = max(candidate.scores.values())
        else:
            fuse_by_ranks(list(pool))
        reports += self._absent(names)
        problems = [report.problem for report in reports if report.problem]
        hits = self._best(pool, given)
        return {"searchType": kind, **_scope(given), **self._results(hits, bank, problems)}

    def _multi_strategy(self, given: Object) -> Object:
        bank, query = self._read(given)
        names = given.get("strategies") or STRATEGIES
        timeout_ms = given.get("timeout", DEFAULT_TIMEOUT_MS)
        pool, reports = self._run_retrievers(names, bank, query, given, timeout_ms)
        fuse_by_ranks(list(pool))
        self._measure(pool, query, _expansion(given))
        hits = self._best(pool, given)
        return {
            "searchType": "multi_strategy",
            **_scope(given),
            "confidence": self._confidence(bank, query, hits),
            **strategy_results([*reports, *self._absent(names)]),
            **self._results(hits, bank),
        }

    def _with_fallbacks(self, given: Object) -> Object:
        bank, query = self._read(given)
        plan = RecallPlan(
            _layers(given),
            given.get("limit", DEFAULT_LIMIT),
            fusion=Fusion.SCORES,
            expansion=given.get("expansion", "full"),
            tokens=_MAX_TOKENS,
            knowledge=read_kinds([given["kind"]] if "kind" in given else []),
            weak=True,
        )
        found = recall(self._reader, bank, query.text, plan, self._now, self._load_model())
        hits, prompt = list(found.hits), ""
        used: tuple[str, ...] = ()
        # Neither sessions nor raw lines are knowledge of a kind.
        if found.abstained and bank != "" and not plan.knowledge:
            grep_allowed = given.get("enableGrep", True) and self._may_read_raw()
            limit_s = given.get("grepTimeout", DEFAULT_TIMEOUT_MS) / 1000
            fallen = run_fallbacks(
                self._reader, bank, query, self._redactor, plan, grep_allowed, limit_s
            )
            hits, used = [*fallen.hits, *hits], fallen.used
            if CLARIFICATION in used:
                prompt = "No record clearly answers this. Ask in other words."
                if fallen.suggestions:
                    prompt += f" It has records about: {', '.join(fallen.suggestions)}."
        result: Object = {
            "searchType": "multi_strategy_with_fallbacks",
            "layer": given.get("layer", "all"),
            "confidence": self._confidence(bank, query, hits)
            if not used
            else "low"
            if hits
            else "none",
            "fallbacksUsed": list(used[-1:]) if used and CLARIFICATION not in used else [],
            "fallbacksAttempted": list(used),
        }
        result |= {"clarificationPrompt": prompt} if prompt else {}
        return result | strategy_results(found.strategies) | self._results(hits, bank)

    def _list_layers(self, given: Object) -> Object:
        bank = self.bank()
        counts = self._reader.records.counts(bank)
        ids = [b.id for b in self._reader.banks.all()] if bank is None else [bank]
        sizes = {
            "rules": sum(len(self._reader.rules.all(id)) for id in ids),
            "summaries": counts.digests,
            "observations": counts.exchanges
            + counts.memories
            + counts.retained
            + counts.facts
            + counts.imported,
            "transcripts": counts.turns,
            "team": counts.commits + counts.pulls + counts.issues + counts.shared,
        }
        layers = [
            {"name": name, "description": text, "available": sizes[name] > 0, "count": sizes[name]}
            for name, text in _LAYER_DESCRIPTIONS.items()
        ]
        return {"layers": layers} | self._notes(bank)

    def _scan_recent_sessions(self, given: Object) -> Object:
        began = perf_counter()
        text = given.get("query", "").strip()
        bank = self.bank()
        query = read_query(self._reader, bank, text, self._now) if text else None
        when = query.time_range if query else None
        span = (when.start, when.end) if when else ("", "")
        passages = self._reader.passages.recent(bank, "digest", _MAX_SCANNED_SESSIONS, *span)
        temporal = query is None or query.asks_for_recent_work or query.only_time
        limit = given.get("limit", DEFAULT_LIMIT)
        scored = [(p, _session_score(p, query if not temporal else None)) for p in passages]
        chosen = [(p, score) for p, score in scored if score > 0][:limit]
        hits = [
            make_hit(self._reader, Candidate(p, {"recent_sessions": n}, score=score))
            for n, (p, score) in enumerate(chosen, 1)
        ]
        result: Object = {"searchType": "recent_sessions", "isTemporalQuery": temporal}
        return result | _success_since(began) | self._results(hits, bank)

    def _grep_transcripts(self, given: Object) -> Object:
        """Stored turns first; then raw transcripts, which also hold the output of tools."""
        began = perf_counter()
        bank, query = self._read(given)
        limit = given.get("limit", DEFAULT_LIMIT)
        text = given["query"].strip()
        stored = self._reader.passages.search(bank, [text], [Layer.TRANSCRIPTS], limit)
        hits = [
            make_hit(self._reader, Candidate(m.passage, {"kept": n}, score=1 / (n + 1)))
            for n, m in enumerate(stored, 1)
        ]
        result: Object = {"searchType": "grep"}
        problems: list[str] = []
        if not self._may_read_raw():
            problems.append("Raw transcripts are not read: the settings leave something out.")
        elif len(hits) < limit:
            limit_s = given.get("timeout", DEFAULT_TIMEOUT_MS) / 1000
            raw = grep(self._reader, bank, query, self._redactor, limit_s)
            seen = {one.uri for one in hits}
            hits += islice((one for one in raw if one.uri not in seen), limit - len(hits))
        return result | _success_since(began) | self._results(hits, bank, problems)

    @property
    def _redactor(self) -> Redactor:
        return Redactor(self._settings.redact_patterns)

    def _read(self, given: Object) -> tuple[str | None, Query]:
        bank = self.bank()
        return bank, read_query(self._reader, bank, given["query"], self._now)

    def _may_read_raw(self) -> bool:
        """Whether the settings exclude nothing: a raw line does not say whether it was excluded."""
        return not (self._settings.exclude_tools or self._settings.exclude_paths)

    def _retriever(
        self, name: str, bank: str | None, query: Query, given: Object
    ) -> Retriever | None:
        """The retriever of a strategy, or of "fts", which expands a query if it can be; None for
        the semantic one if it cannot be used."""
        layers, most = _layers(given), _MAX_CANDIDATES
        if "kind" in given:
            layers, most = layers or KNOWLEDGE_LAYERS, _MAX_FILTERED_CANDIDATES
        elif _expansion(given) is Expansion.NONE and name != "semantic":
            most = _MAX_FILTERED_CANDIDATES
        if name == "semantic":
            model = self._load_model()
            if model is None:
                return None
            return retrievers.semantic(bank, model, query.text, layers, most)
        if name == "summaries":
            return retrievers.summaries(bank, query.terms, layers, most)
        more = _other_terms(query, given)
        if name == "direct_fts" or (name == "fts" and not more):
            return retrievers.direct(bank, query.terms, layers, most)
        return retrievers.expanded(bank, query.terms, more, layers, most)

    def _run_retrievers(
        self, names: Sequence[str], bank: str | None, query: Query, given: Object, timeout_ms: float
    ) -> tuple[Pool, list[RetrieverReport]]:
        chosen = [found for name in names if (found := self._retriever(name, bank, query, given))]
        runs = run_retrievers(self._reader, chosen, timeout_ms / 1000)
        pool = Pool()
        kinds = read_kinds([given["kind"]] if "kind" in given else [])
        literal = _expansion(given) is Expansion.NONE
        words = given_words(query.text) if literal else frozenset[str]()
        for run in runs:
            accepted = [
                found
                for found in run.result.passages
                if not kinds or knowledge_of(self._reader, found.passage) in kinds
            ]
            if literal and run.report.name != "semantic":
                accepted = [found for found in accepted if _has_word(words, found.passage)]
            add_results(pool, run.report.name, accepted, run.result.lowest_score)
            if run.report.name == "semantic" and self._understands(query.text):
                for found in accepted:
                    pool.add(found.passage).cosine = found.score
        apply_status(self._reader, pool, "", self._now)
        return pool, [run.report for run in runs]

    def _understands(self, query: str) -> bool:
        """Whether a cosine tells that a passage answers a query, because the model knows its
        language."""
        model = self._load_model()
        return model is not None and model.understands(query)

    def _measure(self, pool: Pool, query: Query, expansion: Expansion) -> None:
        """Note how well each candidate answers the query, as a recall does."""
        wanted = query.wanted(DEFAULT_THRESHOLDS.for_bank(query.passages), expansion)
        for candidate in pool:
            measure_relevance(candidate, wanted, query.time_stems_at(candidate.passage.time))

    def _confidence(self, bank: str | None, query: Query, hits: Sequence[Hit]) -> str:
        """How sure an answer from these hits would be; none of them need be one."""
        answering = [hit for hit in hits if "needed" not in hit.why or answers(hit.why)]
        if hits and not answering:
            return Confidence.LOW.value
        return confidence_in(self._reader, bank, query.text, answering).value

    def _absent(self, names: Sequence[str]) -> list[RetrieverReport]:
        """The report of the semantic retriever, if it was wanted and could not be run."""
        if "semantic" not in names or self._semantic is not None:
            return []
        problem = self._model_problem or _NO_VECTORS
        return [RetrieverReport("semantic", 0, 0, problem=problem)]

    def _best(self, pool: Pool, given: Object) -> list[Hit]:
        ranked = pool.ranked()[: given.get("limit", DEFAULT_LIMIT)]
        return [make_hit(self._reader, one) for one in ranked]

    def _results(
        self, hits: Sequence[Hit], bank: str | None, problems: Sequence[str] = ()
    ) -> Object:
        shown, left = fit(hit_result(self._reader, one) for one in hits)
        result: Object = {"resultCount": len(shown), "results": shown}
        result |= {"leftOut": left} if left else {}
        return result | self._notes(bank, *problems)


def _expansion(given: Object) -> Expansion:
    return Expansion(given.get("expansion", Expansion.MINIMAL))


def _other_terms(query: Query, given: Object) -> tuple[str, ...]:
    return expand(query.terms.words, _expansion(given))


def _has_word(given: frozenset[str], passage: Passage) -> bool:
    return has_given_word(given, f"{passage.body} {passage.context}")


def _layers(given: Object) -> tuple[Layer, ...]:
    layer = given.get("layer", "all")
    return () if layer == "all" else (Layer(layer),)


def _scope(given: Object) -> Object:
    """Where a search looked and how, as its result says it."""
    return {
        "layer": given.get("layer", "all"),
        "expansion": _expansion(given).value,
        **({"kind": given["kind"]} if "kind" in given else {}),
    }


def _session_score(passage: Passage, query: Query | None) -> float:
    """The share of a query that the summary of a session holds; 1 without a query."""
    return coverage(query.stem_weights, f"{passage.body} {passage.context}") if query else 1.0


def _success_since(began: float) -> Object:
    return {"success": True, "duration": round((perf_counter() - began) * 1000, 1)}
