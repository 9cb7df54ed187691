from __future__ import annotations

import re

from holdfast.interfaces.ui.prose import diff

CHANGE = """\
diff --git a/q.sql b/q.sql
--- a/q.sql
+++ b/q.sql
@@ -1,3 +1,2 @@
 select 1
--- a comment of SQL
+++ not a name
-- <b>
--- a/last.sql"""


def test_file_headers_of_a_diff_are_not_shown_as_changes() -> None:
    told = re.findall(r'<span class="(\w+)">', str(diff(CHANGE)))
    assert told[:5] == ["file", "file", "file", "hunk", "same"]
    assert told[7:] == ["removed", "removed"]
    assert "&lt;b&gt;" in diff(CHANGE)
