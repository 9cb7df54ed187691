"""The web pages, one module each: a route that asks operations and renders a template; the forms of
all of them ask for an operation, too (`forms`).

To add a page:

1. Write a module here with a `router` (a `CheckedRouter`) and a function that takes
   `request: PageRequestDep`. Ask an operation with `await request.ask(name, …)`, or several things
   at once with `await request.pool.read(task)`, a function of the memory. Return
   `request.render(template, …)`.
2. Add the module to `_PAGES` below.
3. Enter its routes in `interfaces/http/auth/permissions`; a route that is missing there needs an
   admin key for every bank. A form needs only its operation in `FORMS` there.
4. Write the template in `interfaces/ui/templates`; it extends `base.html`. Texts are escaped, and a
   name that is not passed to the template is an error.
5. To show it in the navigation, add it to `PLACES` in `interfaces/ui/render`.
"""

from __future__ import annotations

from holdfast.interfaces.http.pages import (
    ask,
    banks,
    brief,
    entities,
    forms,
    memory,
    record,
    repos,
    review,
    search,
    sessions,
    status,
    timeline,
)

# The page of what was injected into a session comes before that of a session.
_PAGES = (
    ask, brief, sessions, search, record, memory, forms, review, banks, entities, timeline, repos,
    status,
)  # fmt: skip
ROUTERS = tuple(page.router for page in _PAGES)
