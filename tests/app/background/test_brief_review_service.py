"""The review of briefs by a real service on loopback: settings, worker, ledger, prepared brief."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.permitted_model_service import (
    Json,
    Service,
    User,
    completion,
    model_settings,
)
from tests.support.refine_banks import session_on
from tests.support.transcripts import Script

RULE = "Always moor the ferry at the north quay, never at the south quay."
CAUSE = "The root cause was the tide table: it was read in feet, so every gate closed too late."


class Judging:
    """A service that sums up as it does elsewhere, and says one word of all statements."""

    def __init__(self, service: Service, word: str = "outdated") -> None:
        self.word = word
        self.asked: list[str] = []
        self._service = service
        service.answer = self

    def __call__(self) -> tuple[int, Json]:
        messages = self._service.asked[-1]["messages"]
        if "verdicts" not in str(messages[0]):
            return 200, completion()
        text = str(messages[-1]["content"])
        self.asked.append(text)
        count = len(re.findall(r"^\d+\. ", text.rpartition(" list 2\n")[2], re.MULTILINE))
        said = [
            {"number": n + 1, "why": "", "verdict": self.word, "rewritten": ""}
            for n in range(count)
        ]
        usage = {"prompt_tokens": 700, "completion_tokens": 50}
        message = {"content": json.dumps({"verdicts": said})}
        return 200, {"choices": [{"message": message}], "usage": usage, "model": "small"}


def talk() -> Script:
    script = session_on("2026-09-01", 1)
    script.user(RULE)
    script.assistant("Understood, the ferry moors at the north quay.")
    script.user("Why do the gates of the lock close too late?")
    script.assistant(CAUSE)
    return script


def user_with(folder: Path, service: Service, more: str = 'briefs = "small"') -> User:
    user = User(folder, model_settings(service, more), talk())
    user.env["HOLDFAST_BANK"] = "harbour"
    return user


def brief(user: User) -> str:
    return user.run("brief", "--bank", "harbour")


def operations(user: User) -> dict[str, int]:
    return {day["operation"]: day["calls"] for day in user.status()["days"]}


def test_a_worker_has_statements_judged_once_and_pays_for_it(
    service: Service, tmp_path: Path
) -> None:
    judging = Judging(service)
    user = user_with(tmp_path, service, 'briefs = "none"')
    assert "judged" not in user.run("worker") and not judging.asked
    assert RULE in brief(user) and "briefs" not in operations(user)
    user.set(model_settings(service, 'briefs = "small"'))
    assert "judged" in user.run("worker") and len(judging.asked) == 1
    assert RULE in judging.asked[0] and "is called harbour" in judging.asked[0]
    assert RULE not in brief(user) and operations(user)["briefs"] == 1
    assert "judged" not in user.run("worker") and len(judging.asked) == 1


def test_a_service_without_a_default_model_is_asked_only_if_one_is_named(
    service: Service, tmp_path: Path
) -> None:
    judging = Judging(service)
    user = user_with(tmp_path, service, "")
    user.run("worker")
    assert not judging.asked and RULE in brief(user)


def test_without_a_budget_the_brief_is_as_without_a_model(service: Service, tmp_path: Path) -> None:
    judging = Judging(service)
    user = user_with(tmp_path, service, 'briefs = "small"\nday_tokens = 10')
    assert "stopped: A call may take" in user.run("worker")
    assert not judging.asked and RULE in brief(user)


def test_verdicts_are_restored_from_an_export_and_not_paid_for_again(
    service: Service, tmp_path: Path
) -> None:
    judging = Judging(service)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = user_with(tmp_path / "one", service)
    first.run("worker")
    first.run("export", str(tmp_path / "memory.jsonl"))
    asked = len(judging.asked)
    second = User(
        tmp_path / "two", model_settings(service, 'briefs = "small"'), session_on("2026-09-01", 2)
    )
    second.env["HOLDFAST_BANK"] = "harbour"
    second.run("import", "holdfast", str(tmp_path / "memory.jsonl"))
    assert RULE not in brief(second)
    second.run("worker")
    assert len(judging.asked) == asked == 1
