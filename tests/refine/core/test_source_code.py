from __future__ import annotations

import pytest

from holdfast.refine.core.source_code import is_code


@pytest.mark.parametrize(
    "text",
    [
        "# Create a table rows = Table(columns=NAMES) rows.total = 0 rows.style = Style()",
        'with patch.object(ledger, "read", side_effect=fake): # not open assert not ledger.is_open',
        'def read(name, kind=None): if name == "rows": return rows elif name == "sums": return 0',
        "assert ledger.is_open is True",
        "const rows = ledger.filter((row) => row.tenant === tenant);",
        "if (!tenant) { throw new MissingTenant(); }",
        "for rows.Next() { rows.Scan(&sum.Value, &sum.Count)",
        'File "/srv/ledger/read.py", line 32, in load return parse(handle)',
        "at Ledger.read (/srv/ledger/read.js:10:12)",
        "It ended at Ledger.read (/srv/ledger/read.js:10:12) again",
        "Traceback (most recent call last):",
    ],
)
def test_code_is_known_without_a_fence_and_on_one_line(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "set max_rows = 5 in config.py",
        "save() calls flush(rows) before it returns",
        "The `read(rows)` and `sums = 1` are set in `ledger.py`",
        "Use get_rows(id) instead of find_rows(id) because it caches",
        "max_retries = 3, because timeout_seconds = 5 was too short",
        "Never call os.exit() in the test(s) of the ledger",
        "Staging sets NODE_ENV=staging, APP_ENV=staging and LEDGER_NAME=ledger-staging",
        "PgBouncer must run with pool_mode=transaction, max_client_conn=200",
        "return codes: 0 = ok, 1 = failed, 2 = usage",
        "Rename `Ledger.read()` → `Ledger.load()`; `rows` stays",
    ],
)
def test_a_sentence_that_names_code_is_none(text: str) -> None:
    assert not is_code(text)
