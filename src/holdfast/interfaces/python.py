"""The Python API: an open memory whose methods are the operations.

    from holdfast import open_memory

    with open_memory() as memory:
        print(memory.recall("why do we pin onnxruntime").hits[0].text)

A method takes what its operation takes; a choice can be given as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from holdfast.app import memory as app
from holdfast.operations import asking as _asking
from holdfast.operations import briefs as _briefs
from holdfast.operations import catalogue as _catalogue
from holdfast.operations import concepts as _concepts
from holdfast.operations import entities as _entities
from holdfast.operations import finding as _finding
from holdfast.operations import history as _history
from holdfast.operations import knowledge as _knowledge
from holdfast.operations import records as _records
from holdfast.operations import research as _research
from holdfast.operations import search as _search
from holdfast.operations import sessions as _sessions
from holdfast.operations.admin import banks as _banks
from holdfast.operations.admin import deriving as _deriving
from holdfast.operations.admin import machine as _machine
from holdfast.operations.admin import remotes as _remotes
from holdfast.operations.admin import sharing as _sharing
from holdfast.operations.admin import status as _status
from holdfast.operations.admin import transfer as _transfer
from holdfast.operations.admin import usage as _usage
from holdfast.operations.decisions import curation as _curation
from holdfast.operations.decisions import erasing as _erasing
from holdfast.operations.decisions import log as _log
from holdfast.operations.decisions import reviews as _reviews
from holdfast.operations.decisions import rules as _rules
from holdfast.operations.operation import OWNER, Call, operation_of
from holdfast.operations.registry import all_operations
from holdfast.operations.running import perform
from holdfast.settings import Settings, load_settings

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Method(Generic[Parameters, Result]):
    """An operation as a method of an open memory."""

    def __init__(self, run: Callable[Concatenate[app.Holdfast, Parameters], Result]) -> None:
        self._run = run
        self.__doc__ = run.__doc__

    @overload
    def __get__(self, memory: None, owner: type) -> Self: ...
    @overload
    def __get__(self, memory: Holdfast, owner: type) -> Callable[Parameters, Result]: ...
    def __get__(self, memory: Holdfast | None, owner: type) -> Self | Callable[Parameters, Result]:
        if memory is None:
            return self
        operation = operation_of(self._run)
        assert operation is not None
        names = [one.name for one in operation.parameters]

        def call(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
            given = {**dict(zip(names, values, strict=False)), **named}
            if len(values) > len(names):
                raise TypeError(f"{operation.id}() takes {len(names)} arguments.")
            caller = given.pop("call", OWNER)
            assert isinstance(caller, Call)
            return perform(operation, memory.opened, given, caller)

        call.__doc__ = self.__doc__
        return call


class Holdfast:
    """An open memory. `opened` is what the operations work on, which may change in any version."""

    def __init__(self, settings: Settings, create: bool = True) -> None:
        self.opened = app.Holdfast(settings, create=create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory."""
        self.opened.close()

    def __getattr__(self, name: str) -> Any:
        """An operation that is not listed below, where an editor finds them."""
        operation = next((one for one in all_operations() if one.id == name), None)
        if operation is None:
            raise AttributeError(f"There is no operation {name!r}.")
        return Method(operation.run).__get__(self, type(self))

    recall = Method(_search.recall)
    grep = Method(_search.grep)
    layers = Method(_search.layers)
    ask = Method(_asking.ask)
    find = Method(_finding.find)
    timeline = Method(_history.timeline)
    team = Method(_history.team)
    who = Method(_history.who)
    research_list = Method(_research.research_list)
    research_show = Method(_research.research_show)
    research_cancel = Method(_research.research_cancel)
    research_useful = Method(_research.research_useful)
    research_remove = Method(_research.research_remove)
    reflect = Method(_research.reflect)
    brief = Method(_briefs.brief)
    brief_log = Method(_briefs.brief_log)
    brief_session = Method(_briefs.brief_session)
    handoff = Method(_briefs.handoff)
    facts = Method(_knowledge.facts)
    memories = Method(_knowledge.memories)
    concepts = Method(_concepts.concepts)
    concept = Method(_concepts.concept)
    keywords = Method(_concepts.keywords)
    keyword = Method(_concepts.keyword)
    opinions = Method(_knowledge.opinions)
    commits = Method(_knowledge.commits)
    audit = Method(_knowledge.audit)
    entities = Method(_entities.entities)
    entity = Method(_entities.entity)
    entity_merge = Method(_entities.merge_entities)
    entity_split = Method(_entities.split_entity)
    sessions = Method(_sessions.sessions)
    session = Method(_sessions.session)
    messages = Method(_sessions.messages)
    exchanges = Method(_sessions.exchanges)
    session_exchanges = Method(_sessions.session_exchanges)
    digest = Method(_sessions.digest)
    purge_plan = Method(_erasing.purge_plan)
    purge = Method(_erasing.purge)
    scrub = Method(_erasing.scrub)
    path = Method(_records.path)
    show = Method(_records.show)
    remember = Method(_curation.remember)
    retain = Method(_curation.retain)
    correct = Method(_curation.correct)
    forget = Method(_curation.forget)
    restore = Method(_curation.restore)
    confirm = Method(_curation.confirm)
    merge = Method(_curation.merge)
    undo = Method(_curation.undo)
    review = Method(_reviews.reviews)
    review_decide = Method(_reviews.decide_review)
    judge = Method(_curation.judge)
    decisions = Method(_log.decisions)
    records = Method(_catalogue.records)
    review_adopt = Method(_reviews.adopt)
    learn = Method(_rules.learn)
    promote_candidates = Method(_rules.promote_candidates)
    promote_status = Method(_rules.promote_status)
    promote_run = Method(_rules.promote_run)
    promote_approve = Method(_rules.promote_approve)
    promote_reject = Method(_rules.promote_reject)
    banks = Method(_banks.banks)
    bank = Method(_banks.bank)
    bank_set = Method(_banks.bank_set)
    bank_merge = Method(_banks.bank_merge)
    bank_unmerge = Method(_banks.bank_unmerge)
    me = Method(_banks.me)
    status = Method(_status.status)
    cost = Method(_usage.cost)
    worth = Method(_usage.worth)
    doctor = Method(_machine.doctor)
    doctor_fix = Method(_machine.doctor_fix)
    backups = Method(_machine.backups)
    backup = Method(_machine.backup)
    providers = Method(_machine.providers)
    providers_test = Method(_machine.providers_test)
    ingest = Method(_machine.ingest)
    forge = Method(_deriving.forge)
    refine = Method(_deriving.refine)
    import_from = Method(_transfer.import_from)
    imports = Method(_transfer.imports)
    undo_import = Method(_transfer.undo_import)
    export = Method(_transfer.export)
    remote_list = Method(_remotes.remote_list)
    remote_add = Method(_remotes.remote_add)
    remote_test = Method(_remotes.remote_test)
    remote_push = Method(_remotes.remote_push)
    remote_remove = Method(_remotes.remote_remove)
    key_list = Method(_remotes.key_list)
    key_new = Method(_remotes.key_new)
    key_revoke = Method(_remotes.key_revoke)
    share = Method(_sharing.share)
    shared = Method(_sharing.shared)
    unshare = Method(_sharing.unshare)
    pull = Method(_sharing.pull)
    pulls = Method(_sharing.pulls)
    undo_pull = Method(_sharing.undo_pull)
    receive_shares = Method(_sharing.receive_shares)
    recall_shares = Method(_sharing.recall_shares)


def open_memory(settings: Settings | None = None, create: bool = True) -> Holdfast:
    """Open the memory of this user, or of the given settings. Without `create` nothing is written
    where there is no memory yet."""
    return Holdfast(settings or load_settings(), create)
