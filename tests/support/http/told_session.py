"""A session that was told a brief of the sample sessions, and cited one line of it."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.brief.injection_outcomes import settle_injections
from holdfast.model.ledgers.injections import Injection, InjectionKind
from tests.support.transcripts import Script

TOLD_SESSION = "22222222-0000-4000-8000-000000000002"
_CWD = "/home/ada/tidewatch"


def tell_a_brief(memory: Holdfast, folder: Path, more: str = "") -> None:
    """Ingest the session; `more` is a line that is added to what it was told."""
    bank = next(one.id for one in memory.reader.banks.all() if one.name == "tidewatch")
    brief = memory.briefs.session_brief(bank)
    rule = next(f for f in memory.browse.facts(bank) if "UTC everywhere" in f.content)
    text = brief.text.replace("\n\nDecided", f"\n- {more}\n\nDecided") if more else brief.text
    script = Script(TOLD_SESSION, cwd=_CWD)
    attachment = {"type": "hook_additional_context", "content": [text]}
    script.add({"type": "attachment", "sessionId": TOLD_SESSION, "attachment": attachment})
    script.user("Print the tide table.")
    script.assistant(f"In UTC, by fact/{rule.id[:8]}, and local time only for people.")
    script.write(folder / "more")
    memory.ingest(memory.ingestion.find([folder / "more"]))
    told = Injection(
        f"{brief.id}.{TOLD_SESSION}.1", bank, TOLD_SESSION, "2026-09-01T08:00:00Z",
        InjectionKind.START, len(text), brief.records,
    )  # fmt: skip
    with memory.store.transaction():
        memory.store.injections.add(told)
    settle_injections(memory.store, "2026-11-17T00:00:00.000Z")
