"""A task counts as open only where its list shows that it was kept up to date."""

from __future__ import annotations

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.open_tasks import find_open_tasks


def calls(*tools: ToolCall, reply: bool = False) -> list[Turn]:
    made = [
        Turn("b", f"t{n}", "s", n, "", Role.TOOL, Trust.TOOL, tool=tool._replace(ok=True))
        for n, tool in enumerate(tools)
    ]
    closing = Turn("b", "r", "s", len(made), "", Role.ASSISTANT, Trust.ASSISTANT, "All is done.")
    return [*made, closing] if reply else made


def create(number: int, subject: str) -> ToolCall:
    return ToolCall("TaskCreate", action=subject, result=f"Task #{number} created successfully")


def update(number: int, status: str) -> ToolCall:
    return ToolCall("TaskUpdate", str(number), "", status)


def found(turns: list[Turn]) -> list[str]:
    return [task.text for task in find_open_tasks(turns)]


THREE = (create(1, "Read rows once"), create(2, "Measure it"), create(3, "Write it down"))


def test_tasks_after_the_last_that_is_done_are_open() -> None:
    assert found(calls(*THREE, update(1, "completed"))) == ["Measure it", "Write it down"]
    assert found(calls(*THREE, update(3, "completed"))) == []
    assert found(calls(*THREE, update(3, "deleted"), update(2, "completed"))) == []


def test_an_update_without_a_status_changes_nothing() -> None:
    turns = calls(*THREE, update(1, "completed"), update(2, "in_progress"), update(2, ""))
    assert [(task.text, task.is_started) for task in find_open_tasks(turns)] == [
        ("Measure it", True),
        ("Write it down", False),
    ]


def test_tasks_that_others_do_are_not_known_to_be_open() -> None:
    assert found(calls(*THREE)) == ["Read rows once", "Measure it", "Write it down"]
    assert found(calls(*THREE, ToolCall("SendMessage", action="Take task 1"))) == []


def test_one_task_that_was_begun_is_done_when_the_agent_replies() -> None:
    begun = (*THREE, update(2, "completed"), update(3, "in_progress"))
    assert found(calls(*begun)) == ["Write it down"]
    assert found(calls(*begun, reply=True)) == []


def test_a_list_that_was_given_up_tells_nothing() -> None:
    kept = (*THREE, update(1, "completed"))
    work = ToolCall("Bash", action="make test")
    assert found(calls(*kept, *[work] * 4)) == ["Measure it", "Write it down"]
    assert found(calls(*kept, *[work] * 5)) == []
    turns = calls(*kept)

    def person(text: str) -> Turn:
        return Turn("b", "p", "s", 9, "", Role.USER, Trust.USER, text)

    assert found([*turns, person("[Request interrupted by user]")]) == found(turns)
    assert found([*turns, person("Now do something else.")]) == []


def test_of_whole_lists_the_last_counts() -> None:
    first = ToolCall("TodoWrite", action="0/2 done\n- [ ] Read rows once\n- [ ] Measure it")
    last = ToolCall("TodoWrite", action="1/3 done\n- [>] Measure it\n- [ ] Write it down")
    turns = calls(first, last, reply=True)
    assert found(turns) == ["Measure it", "Write it down"]
    assert {task.turn.id for task in find_open_tasks(turns)} == {"t1"}
    assert found(calls(first, ToolCall("TodoWrite", action="2/2 done"))) == []
    assert find_open_tasks([]) == []
