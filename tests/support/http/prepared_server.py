"""Importing this makes all that the servers of a process have in common: modules, also those that a
search or a page of a server would import when it is first asked for, routes, the description of the
API, the GraphQL schema and compiled templates. It starts no thread of ours."""

from __future__ import annotations

from importlib import import_module

from holdfast.interfaces.http.app import openapi, prepared_routes
from holdfast.interfaces.ui.render import templates
from tests.support.warm_interpreter import import_all

_MODULES = (
    "holdfast.interfaces.cli.main",
    "holdfast.interfaces.cli.commands.browse",
    "holdfast.interfaces.cli.commands.serve",
    "holdfast.interfaces.http.server.browse_server",
    "holdfast.interfaces.http.server.team_server",
    "holdfast.interfaces.http.graphql.schema",
)

import_all([])
for _module in _MODULES:
    import_module(_module)
for _for_team in (False, True):
    prepared_routes(for_team=_for_team)
openapi()
for _template in templates().list_templates(extensions=("html",)):
    templates().get_template(_template)
