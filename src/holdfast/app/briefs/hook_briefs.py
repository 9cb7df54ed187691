"""The briefs with as few imports as possible, for a hook that has nothing prepared and no server to
ask.

The goal brief searches by words only: loading a model would take longer than a prompt may be
delayed.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from holdfast.brief.goal.goal_brief import goal_brief
from holdfast.refine.rules.rule_roots import memory_file_stamps
from holdfast.sources.rule_locations import file_stamp
from holdfast.store.sqlite.hook_reader import HookReader

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from holdfast.brief.frame import Brief
    from holdfast.model.knowledge import Rule
    from holdfast.settings import Settings
    from holdfast.store.protocol import Reader, Store


def goal_brief_by_words(home: str, bank: str, prompt: str) -> dict[str, object]:
    """The brief for a prompt, in the format that the socket replies with."""
    with _open_store(home) as store:
        brief = goal_brief(store, bank, prompt, rules=lambda: _changed_rules(store, home, bank))
        return reply(brief)


def session_brief_now(home: str, bank: str) -> dict[str, object]:
    """The brief for the start of a session, of what the memory and the project's files hold at this
    moment."""
    from holdfast.brief.notice import last_work
    from holdfast.brief.session_brief import session_brief

    limits = _settings(home).brief
    with _open_store(home) as store:
        rules = _changed_rules(store, home, bank)
        brief = session_brief(store, bank, limits.tokens, limits.exchanges, rules)
        return {**reply(brief), "last": last_work(store, bank)}


def said_since(
    home: str, folder: str, events: Sequence[str], sessions: Sequence[str]
) -> dict[str, object]:
    """What people laid down in prompts that no brief knows: those of some events in the inbox and
    of the journals of some sessions. `rules` has the words and the line of each, `heading` stands
    above them, `alone` is the brief of `folder` where there is no other."""
    from datetime import UTC, datetime

    from holdfast.brief.said_since import HEADING, brief_of_rules, said_rules
    from holdfast.capture.home_paths import HomePaths
    from holdfast.refine.core.banks import Banks
    from holdfast.refine.hooks.unread_prompts import read_unread
    from holdfast.refine.ingest.turns import PrivacyRules
    from holdfast.times import format_time

    settings = _settings(home)
    privacy = PrivacyRules(settings.redact_patterns, settings.exclude_tools, settings.exclude_paths)
    now = format_time(datetime.now(UTC))
    paths, banks = HomePaths(settings.home), Banks(settings)
    rules = said_rules(read_unread(paths, banks, privacy, events, sessions, now))
    name = os.path.basename(folder)  # noqa: PTH119
    alone = reply(brief_of_rules(name, rules)) if rules else {}
    return {"rules": [list(rule) for rule in rules], "heading": HEADING, "alone": alone}


def reply(brief: Brief) -> dict[str, object]:
    """A brief in the format of the socket."""
    return {"v": 1, "id": brief.id, "text": brief.text, "records": list(brief.records)}


def _changed_rules(store: Reader, home: str, bank: str) -> Sequence[Rule] | None:
    """The rules of a bank's files, if its memory file is not as it was last read; else None. It is
    the only one that briefs quote."""
    stamps = memory_file_stamps(store, bank)
    if all(file_stamp(file) == stamp for file, stamp in stamps.items()):
        return None
    from holdfast.app.search.rule_sync import current_rules
    from holdfast.refine.core.banks import Banks

    settings = _settings(home)
    return current_rules(store, settings, Banks(settings), bank)


@contextmanager
def _open_store(home: str) -> Generator[HookReader | Store]:
    path = os.path.join(os.path.abspath(home), "memory.db")  # noqa: PTH100, PTH118
    store = HookReader(path) if os.path.exists(path) else _open_on_server(home)  # noqa: PTH110
    try:
        yield store
    finally:
        store.close()


def _open_on_server(home: str) -> Store:
    """The store of the settings, which may name a server if there is no file."""
    from holdfast.app.core import backends

    return backends.open_without_migrating(_settings(home))


def _settings(home: str) -> Settings:
    from holdfast.settings import load_settings

    return load_settings({**os.environ, "HOLDFAST_HOME": os.path.abspath(home)})  # noqa: PTH100
