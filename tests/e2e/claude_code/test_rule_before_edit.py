"""A rule that somebody states in one session meets the edit of the next one that would break it."""

from __future__ import annotations

import json

from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.test_capture import WITHOUT_SERVER
from tests.e2e.claude_code.test_memory import injected, set_up

FILE = "{project}/uploader.cfg"
RULE = (
    "From now on the retry limit in uploader.cfg must never be raised above three, because a "
    "fourth attempt locks the account at the storage provider."
)
PLAYS = {
    "write": (
        [Use("Write", {"file_path": FILE, "content": "retries = 3\n"})],
        [Say("Written: three retries.")],
    ),
    "break": (
        [Use("Read", {"file_path": FILE})],
        [Use("Edit", {"file_path": FILE, "old_string": "= 3", "new_string": "= 5"})],
        [Say("This edit would break a rule of this project.")],
    ),
}


def test_a_stated_rule_reaches_the_next_session_and_the_edit_that_would_break_it(
    make_lab: MakeLab,
) -> None:
    lab = set_up(make_lab(PLAYS))
    lab.claude(f"{RULE} Please write that file. PLAY:write", WITHOUT_SERVER, allow="Write")
    lab.wait_for_worker()
    lab.api.requests.clear()
    lab.claude("Uploads fail too often. PLAY:break", WITHOUT_SERVER, allow="Read,Edit")
    # Before the model does anything it knows the rule.
    assert RULE in injected(lab, 0)
    # At the edit it meets it again, with the file's name; not when the file is read.
    before_edit, after_edit = (json.dumps(lab.api.requests[n]["messages"]) for n in (-2, -1))
    told = after_edit.removeprefix(before_edit[:-1])
    assert "PreToolUse" in told and "Holdfast, about uploader.cfg" in told and RULE[:60] in told
    assert after_edit.count(RULE) == 1, "what was told at the start is not told again"
    assert "PreToolUse" not in before_edit


NAMING = "From now on never edit web/site.css by hand; tools/styles.mjs writes it."
STYLES = "{project}/web/site.css"
NAMED_PLAYS = {
    "agree": ([Say("Understood.")],),
    "break": (
        [Use("Write", {"file_path": STYLES, "content": "a { color: red }\n"})],
        [Say("This edit would break a rule of this project.")],
    ),
}


def test_a_rule_meets_the_edit_of_the_file_that_it_names_though_nobody_had_touched_it(
    make_lab: MakeLab,
) -> None:
    lab = set_up(make_lab(NAMED_PLAYS))
    lab.claude(f"{NAMING} PLAY:agree", WITHOUT_SERVER)
    lab.wait_for_worker()
    lab.api.requests.clear()
    lab.claude("Make the links red. PLAY:break", WITHOUT_SERVER, allow="Write")
    told = json.dumps(lab.api.requests[-1]["messages"][-2:])
    assert "PreToolUse" in told and "Holdfast, about web/site.css" in told and NAMING in told


def test_a_rule_reaches_a_session_that_starts_before_anything_has_read_it(
    make_lab: MakeLab,
) -> None:
    lab = set_up(make_lab(NAMED_PLAYS))
    lab.hold_worker()  # as if it had no time yet
    lab.claude(f"{NAMING} PLAY:agree", WITHOUT_SERVER)
    lab.api.requests.clear()
    lab.claude("Make the links red. PLAY:agree", WITHOUT_SERVER)
    told = injected(lab, 0)
    assert "Said here just now" in told and NAMING in told
