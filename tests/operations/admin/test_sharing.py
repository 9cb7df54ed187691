"""Sharing with a server, as operations: lines are objects, and whose they are says the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.operations.admin.sharing import Receipts, SharedHits
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import Call
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from tests.support.sample_memory import memory_with_session

RECEIVE, RECALL = find_operation("receive-shares"), find_operation("recall-shares")


def test_a_line_that_is_no_object_is_refused() -> None:
    given = {"bank": "proj", "shares": [{"id": "1"}]}
    assert read_arguments(RECEIVE, given)["shares"] == ({"id": "1"},)
    wrongs: tuple[list[object], ...] = (["a line"], [1], [{}] * 101)
    for wrong in wrongs:
        with pytest.raises(InputError, match="shares"):
            read_arguments(RECEIVE, {**given, "shares": wrong})


def test_every_line_gets_a_receipt(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        call = Call("ann (http)", key="ann")
        given = {"bank": "proj", "shares": [{"id": "1"}, {}]}
        done: Receipts = perform(RECEIVE, memory, given, call)
        assert [one.state for one in done.shares] == ["refused", "refused"]
        asked = {"question": "Why do we retry?", "bank": "proj"}
        found: SharedHits = perform(RECALL, memory, asked, call)
        assert (found.bank, found.hits) == ("proj", ())
