from __future__ import annotations

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.facts.rule_violations import complies, rule_check


@pytest.mark.parametrize(
    ("call", "follows"),
    [
        (ToolCall("Edit", "generated/api.ts", ok=True), False),
        (ToolCall("Bash", action="sed -i s/a/b/ generated/api.ts", ok=True), False),
        (ToolCall("Bash", action="cat > generated/new.ts <<'EOF'\nx\nEOF", ok=True), False),
        (ToolCall("Bash", action="sed -i s/a/b/ src/api.ts", ok=True), None),
        (ToolCall("Bash", action="cat generated/api.ts", ok=True), None),
    ],
)
def test_a_protected_file_that_any_tool_changes_violates_the_rule(
    call: ToolCall, follows: bool | None
) -> None:
    check = rule_check("Never edit files in generated/ by hand.")
    assert check is not None
    turn = Turn("b", "t", "s", 0, "", Role.TOOL, Trust.TOOL, tool=call)
    assert complies(check, turn) is follows
