"""Families of rules: a rule, an amendment of it, and a near miss that must not amend it.

The second half was written before the rules were tuned and has not been used to tune them.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """A rule, what supersedes it, and what must not."""

    name: str
    rule: str
    amendment: str
    near_miss: str


TUNED = (
    Family(
        "package manager",
        "From now on we install packages with npm in this project.",
        "Superseding the rule from last month: we install packages with pnpm, not npm.",
        "From now on we publish packages with a signed tag in this project.",
    ),
    Family(
        "retry limit",
        "Remember: the billing webhook retries at most 3 times.",
        "We changed our mind about the billing webhook: it retries at most 5 times.",
        "Remember: the shipping webhook retries at most 5 times.",
    ),
    Family(
        "deploy day",
        "We decided to deploy the storefront on Tuesdays only.",
        "From now on deploy the storefront on Thursdays instead of Tuesdays.",
        "We decided to deploy the warehouse worker on Thursdays only.",
    ),
    Family(
        "test folder",
        "Always put new tests into tests/unit.",
        "We no longer put new tests into tests/unit: always put them beside the module.",
        "Always put new fixtures into tests/data.",
    ),
    Family(
        "database",
        "We decided to use SQLite for the job queue.",
        "We decided to use Postgres for the job queue instead of SQLite.",
        "We decided to use Postgres for the audit log.",
    ),
    Family(
        "timeout by environment",
        "Remember that the gateway timeout in staging is 30 seconds.",
        "Remember that the gateway timeout in staging is 45 seconds.",
        "Remember that the gateway timeout in production is 90 seconds.",
    ),
    Family(
        "commit style",
        "Never squash commits on the release branch.",
        "Forget the rule about squashing: from now on always squash commits on the release branch.",
        "Never force-push commits on the main branch.",
    ),
)

HELD_OUT = (
    Family(
        "date format",
        "We agreed that invoices show dates as DD.MM.YYYY.",
        "This replaces what we agreed on invoices: they show dates as YYYY-MM-DD from now on.",
        "We agreed that payslips show the month as MM/YYYY.",
    ),
    Family(
        "logging",
        "Always log failed logins at warning level.",
        "Scrap that rule on failed logins: always log failed logins at info level.",
        "Always log failed exports at error level.",
    ),
    Family(
        "api version",
        "From now on all clients call the v1 search endpoint.",
        "From now on all clients call the v2 search endpoint, v1 is no longer supported.",
        "From now on all clients send the tenant header to the export endpoint.",
    ),
    Family(
        "generated code",
        "Never edit files in generated/ by hand.",
        "We no longer forbid it: files in generated/ may be edited by hand from now on.",
        "Never edit files in vendor/ by hand.",
    ),
    Family(
        "german",
        "Ab sofort verwenden wir Yarn für das Frontend.",
        "Ab sofort verwenden wir pnpm statt Yarn für das Frontend.",
        "Ab sofort verwenden wir Poetry für das Backend.",
    ),
    Family(
        "cache",
        "We decided to cache prices for ten minutes.",
        "Update: we decided to cache prices for one minute instead of ten.",
        "We decided to cache avatars for ten minutes.",
    ),
    Family(
        "spanish",
        "A partir de ahora usamos Redis para las sesiones.",
        "A partir de ahora ya no usamos Redis para las sesiones, usamos Valkey.",
        "A partir de ahora usamos Kafka para los eventos.",
    ),
)
