"""A memory that can be asked. It imports nothing of what ingest needs, so it starts fast."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from holdfast.app.core.backends import kept_to, open_store
from holdfast.app.core.counts import Stock
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.model.knowledge import Network
from holdfast.model.query import Answer, Layer, Recalled, Strategy
from holdfast.principal import Principal
from holdfast.recall.core.parallel import Arm
from holdfast.recall.core.plan import Budget, Plan
from holdfast.recall.core.semantic_port import Meaning
from holdfast.recall.engine import Ranking, rank, recall
from holdfast.recall.query.question import read
from holdfast.refine.core.banks import Banks, near_banks, pick
from holdfast.regex import regex
from holdfast.settings import NO_MODEL, OFF, Settings, load_settings
from holdfast.sources.rule_places import rule_places, top_of
from holdfast.store.protocol import Reader, Store
from holdfast.store.protocol.model_calls import Accounts
from holdfast.store.protocol.progress import Standing

if TYPE_CHECKING:
    from holdfast.recall.lookup.trace import Trace
    from holdfast.research.history.team_answer import TeamAnswer

ALL_BANKS = "all"
_PLAN = Plan()
_REMEMBERED = 64
_PLAIN = 0.75
_REASON = regex(
    r"\b(?:why|reasons?|causes?|caused|how come|le(?:a)?d to|consequences?|because of)\b",
    re.IGNORECASE,
)
_ASKED = 2000


def utc_now() -> str:
    """This moment, as records spell it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(found: Recalled) -> bool:
    """Whether the best hits of a search by words hold nearly all of the question's words. What
    asks for a reason is not plain: its answer is seldom put in the words of the question."""
    if _REASON.search(found.query[:_ASKED]):
        return False
    best = [hit for hit in found.hits if not hit.provider][:2]
    return bool(best) and max(hit.why["coverage_alone"] for hit in best) >= _PLAIN


def here() -> str:
    """The folder we stand in."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string is wanted
    except FileNotFoundError as error:
        raise InputError(
            "The current folder is not there any more.", "Go to another one, or name a --bank."
        ) from error


def meant_bank(reader: Reader, banks: Banks, name: str = "") -> str | None:
    """The id of the bank of a name, or of the folder we stand in; None means all of them, "" one
    that is not there yet."""
    if name == ALL_BANKS:
        return None
    if not name:
        return banks.find(reader, here()) or ""
    found = pick(reader, name)
    if found is None:
        raise NotFoundError(f"There is no bank {name!r}.", near_banks(reader, name))
    return found.id


def no_bank(reader: Reader) -> str:
    """What to say where a folder has no bank."""
    names = list(dict.fromkeys(bank.name for bank in reader.banks()))
    if not names:
        return "Nothing is remembered yet; `holdfast ingest` reads your sessions."
    return (
        f"This folder has no memory yet. There is one of {', '.join(names[:8])}"
        f"{' …' if len(names) > 8 else ''}: use --bank NAME, or --bank all."
    )


class Reading(Stock):
    """A memory, open for questions. `bank` arguments take a name; None is the project of the
    folder we stand in, "all" is every bank."""

    def __init__(
        self, settings: Settings, now: Callable[[], str] = utc_now, create: bool = False
    ) -> None:
        self.settings = settings
        self._now = now
        self._store: Store = open_store(settings, create)
        self._banks = Banks(settings)
        self._meaning: Meaning | None = None
        self._loaded = False
        self._problem = ""
        self._asker: Any = None
        self._remembered: dict[tuple[object, ...], Recalled] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()

    @contextmanager
    def kept_to(self, principal: Principal) -> Generator[None]:
        """Within this, whatever is asked and done is so in the name of somebody who may see and
        do only so much."""
        if principal.unbounded and not principal.key:
            yield
            return
        whole, settings = self._store, self.settings
        self.settings = replace(settings, principal=principal)
        self._store = fenced = kept_to(self.settings, whole)
        try:
            yield
        finally:
            self._store, self.settings = whole, settings
            if fenced is not whole:
                cast("Any", fenced).unfenced()

    @property
    def reader(self) -> Reader:
        """Everything that is stored, read-only."""
        return self._store

    @property
    def accounts(self) -> Accounts:
        """What is kept of model services."""
        return self._store

    @property
    def standing(self) -> Standing:
        """How up to date everything derived is."""
        return self._store

    def now(self) -> str:
        """Now, by this memory's clock."""
        return self._now()

    def bank_id(self, bank: str | None = None) -> str | None:
        """The id of the bank that is meant; None means all of them, "" one that is not there
        yet."""
        return meant_bank(self._store, self._banks, bank or self.settings.bank)

    def bank_name(self, id: str | None) -> str:
        """How to call a bank."""
        if id is None:
            return ALL_BANKS
        found = self._store.bank(id)
        return found.name if found else self._banks.project(here()).name

    def recall(
        self,
        query: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        limit: int = 10,
        budget: Budget = Budget.MID,
        networks: Sequence[Network] = (),
        branch: str = "",
        local: bool = False,
        agent: str = "",
    ) -> Recalled:
        """The records that speak of a query, best first; of networks only memories. Servers that
        somebody named are asked too, unless it is `local`."""
        plan = Plan(tuple(layers), limit, budget, networks=tuple(networks), branch=branch)
        return self.recall_by(query, bank, plan._replace(remotes=not local, agent=agent))

    def recall_by(self, query: str, bank: str | None, plan: Plan) -> Recalled:
        """The same, with every option."""
        return self._anchored(self._search(query, bank, self._within_reach(plan)), plan)

    def _search(self, query: str, bank: str | None, plan: Plan) -> Recalled:
        id = self.bank_id(bank)
        self._look_at_rules(id, bool(bank or self.settings.bank))
        found = self._recall(id, query, plan)
        return replace(found, bank=self.bank_name(id))

    def _anchored(self, found: Recalled, plan: Plan) -> Recalled:
        """With what became of the code that each hit speaks about, where a history was read."""
        unasked = plan.as_of or not plan.anchors
        if unasked or not found.hits or not self._store.repositories():
            return found
        from holdfast.app.search import code_freshness

        return replace(found, hits=code_freshness.anchored(self._store, found.hits))

    def recall_quickly(self, query: str, bank: str | None, plan: Plan) -> Recalled:
        """By words alone where words alone find it; a model is loaded only where they do not,
        since that takes longer than all the rest. For a process that asks only once. Plugins
        take longer still, and are asked once; servers of the team's are asked meanwhile."""
        if plan.asks_plugins:
            return self.recall_by(query, bank, plan)
        plan = self._within_reach(plan)
        self._elsewhere(query, self.bank_id(bank), plan)
        found = self._search(query, bank, plan._replace(budget=Budget.LOW, remotes=False))
        if _plain(found):
            plan = plan._replace(budget=Budget.LOW)
        if plan.remotes or plan.budget is not Budget.LOW:
            found = self._search(query, bank, plan)
        return self._anchored(found, plan)

    def present(self) -> tuple[str, str]:
        """The bank of the folder we stand in, and the top of its project; "" where there is
        none."""
        try:
            folder = here()
        except InputError:
            return "", ""
        found = self._banks.find(self._store, folder)
        return (found, top_of(folder)) if found else ("", "")

    def _look_at_rules(self, bank: str | None, named: bool) -> None:
        """Read files of rules that changed since; mostly none has, and only their times are
        looked at. Without a name the bank is that of this folder, and so are its rules."""
        if not bank or self.settings.principal is not None:
            return  # whoever asks from afar does not have this folder before them
        seen = self._store.rule_files(bank)
        root = next((file.root for file in seen), "") if named else top_of(here())
        now = rule_places(root, str(self.settings.claude_dir))
        if {f.file: f.stamp for f in seen} != {place.file: place.stamp for place in now}:
            from holdfast.app.search import rule_sync

            rule_sync.follow_if_possible(self._store, self.settings, self._banks, bank, root)

    def _recall(self, bank: str | None, query: str, plan: Plan) -> Recalled:
        """The same question of the same memory has the same answer, until "today" is another. An
        answer that an arm is missing from may be a better one next time."""
        minute = self._now()[:16]
        asked = (self._store.generation(), minute, self._whose(), bank, query, plan)
        known = self._remembered.get(asked)
        if known is not None:
            return known
        elsewhere = self._elsewhere(query, bank, plan)
        meaning = self._meaning_for(plan)
        found = recall(self._store, bank, query, plan, self._now, meaning, elsewhere)
        found = replace(found, strategies=(*found.strategies, *self._failed(plan)))
        found = self._fallen_back(found, bank, plan)
        if not elsewhere and not any(arm.timed_out or arm.problem for arm in found.strategies):
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[asked] = found
        return found

    def _whose(self) -> tuple[str, ...] | None:
        """The banks that are meant by all of them."""
        principal = self.settings.principal
        return principal.banks if principal else None

    def _within_reach(self, plan: Plan) -> Plan:
        """The plan without servers of the team's, where none is to be asked; then nothing of what
        asks them is loaded."""
        asked = plan.asks_remotes and self.settings.remote.use != OFF
        # What others are trusted with is for the owner alone, not for whoever asks through them.
        asked = asked and self.settings.principal is None
        return plan._replace(remotes=asked and self.settings.remotes.exists())

    def _elsewhere(self, query: str, bank: str | None, plan: Plan) -> list[Arm]:
        """The arms that ask plugins and servers, if the plan wants any; loaded then."""
        arms: list[Arm] = []
        if plan.asks_plugins and self.settings.principal is None:
            from holdfast.app.search import plugin_search

            arms += plugin_search.arms_for(self.settings, self._now, here(), query, plan)
        if plan.asks_remotes:
            from holdfast.app.remote import remote_search

            self._asker = self._asker or remote_search.Asker(self.settings, self._now)
            arms += self._asker.arms_of(self._store, query, bank, self.bank_name(bank))
        return arms

    def _fallen_back(self, found: Recalled, bank: str | None, plan: Plan) -> Recalled:
        """What else can be done where nothing was found; it is seldom, so it is loaded then."""
        unasked = plan.as_of or plan.networks or plan.kinds or plan.agent
        ours = any(hit.layer is not Layer.PROVIDERS for hit in found.hits)
        if ours or plan.budget is Budget.LOW or bank == "" or unasked:
            return found
        from holdfast.capture import redact
        from holdfast.recall import fallback

        asked = read(self._store, bank, found.query, self._now)
        redactor = redact.Redactor(self.settings.redact_patterns)
        # A raw line does not tell whether it was left out of the memory on purpose.
        raw = not (self.settings.exclude_tools or self.settings.exclude_paths)
        fallen = fallback.fall_back(self._store, bank, asked, redactor, plan, raw)
        return replace(
            found,
            abstained=found.abstained and not fallen.hits,
            hits=(*fallen.hits, *found.hits),
            misses=() if fallen.hits else found.misses,
            fallbacks=fallen.used,
            suggestions=fallen.suggestions,
        )

    def rank(self, query: str, bank: str | None = None, plan: Plan = _PLAN) -> Ranking:
        """Everything in the running for a query, best first, whether or not it is any good."""
        meaning = self._meaning_for(plan)
        found = rank(self._store, self.bank_id(bank), query, plan, self._now, meaning)
        return found._replace(strategies=(*found.strategies, *self._failed(plan)))

    def _meaning_for(self, plan: Plan) -> Meaning | None:
        """What models add, loaded when it is first wanted: it takes longer than a search. Where
        a model cannot be used, words still answer."""
        if plan.budget is Budget.LOW:
            return None
        chosen = self.settings.rerank_model not in ("", NO_MODEL)
        if not self._loaded and (chosen or self._store.vector_models()):
            from holdfast.app.core import models

            self._meaning, self._problem = None, ""
            try:
                self._meaning = models.load_meaning(self.settings)
            except HoldfastError as error:
                self._problem = f"{error.message} {error.remedy}".strip()
            self._loaded = True
        return self._meaning

    def _failed(self, plan: Plan) -> tuple[Strategy, ...]:
        """The arm that could not run for want of its model."""
        if not self._problem or plan.budget is Budget.LOW:
            return ()
        return (Strategy("semantic", 0, 0, problem=self._problem),)

    def ask(
        self,
        question: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        quickly: bool = False,
        as_of: str = "",
        budget: Budget = Budget.MID,
        providers: bool = False,
        model: bool = True,
        session: str = "",
        local: bool = False,
    ) -> Answer:
        """A cited answer, or an abstention; `quickly` as for `recall_quickly`, `as_of` a moment
        to look back from, `budget` how hard to look where the first look does not suffice,
        `providers` whether plugins are asked too, `model` whether one that the settings name is,
        `session` an earlier one to go on with, `local` that no server is asked."""
        from holdfast.app.answers.ask import Wish
        from holdfast.app.answers.research_sessions import Investigation

        wish = Wish(question, bank, tuple(layers), quickly, as_of, Budget(budget), providers)
        wish = wish._replace(model=model, remotes=not local)
        return Investigation(self, wish, session).answer()

    def team_query(self, question: str, bank: str | None = None, limit: int = 10) -> TeamAnswer:
        """What the team knows of a question: an answer, the best records, the people to ask."""
        from holdfast.app.answers import research_sessions

        return research_sessions.team_query(self, question, bank, limit)

    def problems(self, plan: Plan) -> tuple[str, ...]:
        """What an answer was made without."""
        return tuple(f"By words alone: {arm.problem}" for arm in self._failed(plan))

    def no_bank(self, id: str | None = "") -> str:
        """What to say where a folder has no bank, as `bank_id` tells; "" where it has one."""
        return no_bank(self._store) if id == "" else ""

    def no_network(self, bank: str | None, networks: Sequence[Network]) -> str:
        """What to say where a bank has no memory of any of these networks; "" where it has."""
        if not networks:
            return ""
        id = self.bank_id(bank)
        from holdfast.app.core import networks as asking

        return asking.lacking(self._store, id, self.bank_name(id), networks)

    def show(self, uri: str, bank: str | None = ALL_BANKS, as_of: str = "") -> Trace:
        """A record and the way from it down to its raw line; with a moment to look back from, as
        it stood then."""
        from holdfast.recall.lookup import trace

        if "://" in uri:
            from holdfast.app.core import foreign_uris

            uri = foreign_uris.resolve(self._store, self.bank_id(bank), uri)
        near = (lambda: self.present()[0]) if bank == ALL_BANKS else (lambda: "")
        return trace.trace(self._store, self.bank_id(bank), uri, as_of, near)


def open_reading(settings: Settings | None = None) -> Reading:
    """Open the memory of this user, or of the given settings, for questions."""
    return Reading(settings or load_settings())
