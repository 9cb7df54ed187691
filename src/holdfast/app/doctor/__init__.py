"""`holdfast doctor`: checks of everything that capture and memory depend on, and fixes for them.

Start with `check` (what a check and a fix are), then `examine` (which checks run, and how fixes are
applied). Each other module holds one group of checks, except `page_status`, which serves the health
page.

To add a check: write a function that takes the `DoctorContext` and returns a `Check` (use `ok` if
all is well), and add it to the list that the group's `check_...` function returns. A new group is a
function `check_NAME(context) -> list[Check]` in a module of its own, added to `CHECK_GROUPS` in
`examine`. A check must not change anything. If the problem can be repaired, pass a `fix` that does
it and returns a sentence; if the fix deletes something or takes long, also pass the `question` to
ask first.
"""
