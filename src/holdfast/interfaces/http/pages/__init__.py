"""The web pages, one module each: a route that reads or changes the memory and renders a template.

To add a page:

1. Write a module here with a `router` (a `CheckedRouter`) and a function that takes
   `request: PageRequestDep`. Read with `await request.pool.read(task)`, search with
   `request.pool.search(task)`, change something with `request.pool.run(task)`; a task is a function
   of the memory. Return `request.render(template, …)`. A form takes `form: FormDep`, which checks
   that it came from one of our pages, and ends with `redirect_with_note`.
2. Add the module to `_PAGES` below.
3. Enter its routes in `interfaces/http/auth/permissions`; a route that is missing there needs an
   admin key for every bank.
4. Write the template in `interfaces/ui/templates`; it extends `base.html`. Texts are escaped, and a
   name that is not passed to the template is an error.
5. To show it in the navigation, add it to `PLACES` in `interfaces/ui/render`. Texts that a page
   shows after a change are in `interfaces/ui/notes`.
"""

from __future__ import annotations

from holdfast.interfaces.http.pages import (
    ask,
    banks,
    brief,
    curation,
    entities,
    memory,
    record,
    repos,
    review,
    search,
    sessions,
    status,
    timeline,
)

_PAGES = (
    ask, sessions, search, record, memory, curation, review, banks, brief,
    entities, timeline, repos, status,
)  # fmt: skip
ROUTERS = tuple(page.router for page in _PAGES)
