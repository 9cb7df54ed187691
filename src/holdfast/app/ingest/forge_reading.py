"""Reading the threads of a forge: which repository, which token, and into which bank.

The token is sent only to the host of the settings: a git remote on another host is not read,
whatever the repository's configuration says. Imported only when a forge is read.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.app.core.context import Context, current_folder
from holdfast.errors import InputError, SettingsError
from holdfast.refine.core.banks import find_bank_by_name
from holdfast.refine.git.forge_sync import (
    ForgeCount,
    ForgeReport,
    Progress,
    count_forge,
    read_forge,
)
from holdfast.sources.forge import github
from holdfast.sources.forge.client import Pace
from holdfast.sources.project import normal_remote, run_git

OnMessage = Callable[[str], None]


def read_new_threads(
    context: Context, name: str, bank: str, on_progress: Progress, on_message: OnMessage
) -> ForgeReport:
    """Read what is new into the named bank, or the bank of the repository."""
    store, banks, chosen = context.store, context.bank_maker, bank or context.settings.bank
    forge, patterns = _forge(context, name, on_message), context.settings.redact_patterns
    known = store.banks.id_by_alias(f"remote:{forge.repo}")
    with store.transaction():
        if chosen:
            known = banks.ensure_named(store, chosen)
        elif forge.repo in _remotes(current_folder()):
            known = banks.ensure(store, current_folder())
    if known is None:
        raise InputError(
            f"{forge.own} is not the repository of this folder.",
            "Name the bank that it belongs to with --bank.",
        )
    report = read_forge(store, known, forge, patterns, context.now, on_progress)
    report.bank = context.bank_name(known)
    return report


def count_new_threads(context: Context, name: str, bank: str, on_message: OnMessage) -> ForgeCount:
    """How much there is to read; changes nothing."""
    store, chosen = context.store, bank or context.settings.bank
    forge = _forge(context, name, on_message)
    if chosen:
        found = find_bank_by_name(store, chosen)
        into = found.id if found else None
    else:
        known = store.banks.id_by_alias(f"remote:{forge.repo}")
        into = known or context.banks.find(store, current_folder())
    return count_forge(store, into or "", forge)


def _forge(context: Context, name: str, on_message: OnMessage) -> github.GitHub:
    folder, access = current_folder(), context.settings.forge
    if context.banks.is_excluded(folder):
        raise InputError(
            f"{folder} is excluded from memory by the settings.",
            "See exclude.projects in config.toml.",
        )
    host = github.web_host(access.url)
    name = name or _repository_name(folder, host)
    if access.token_env and not access.token:
        raise SettingsError(
            f"forge.token_env names {access.token_env}, which is not set.",
            "Set that variable, or take the setting out of config.toml.",
        )
    pace = Pace(access.wait_s, access.requests, on_message)
    return github.GitHub(name, access.url, access.token or github.gh_token(host), pace)


def _repository_name(folder: str, host: str) -> str:
    remotes = _remotes(folder)
    for remote in remotes:
        if remote.startswith(f"{host}/"):
            return remote.removeprefix(f"{host}/")
    if not remotes:
        raise InputError(
            "The current folder is not a git repository with a remote.",
            "Go to one, or name a repository: holdfast forge OWNER/NAME --bank NAME.",
        )
    raise InputError(
        f"The remote of this repository ({remotes[0]}) is not on {host}.",
        "Set forge.url in config.toml to the API of its host: https://HOST/api/v3.",
    )


def _remotes(folder: str) -> list[str]:
    """The remotes of a repository as `host/owner/name`, origin and upstream first."""
    listed = run_git(folder, "config", "--get-regexp", r"^remote\..*\.url$")
    urls: dict[str, str] = {}
    for line in listed.splitlines():
        key, _, url = line.partition(" ")
        urls[key.removeprefix("remote.").removesuffix(".url")] = url.strip()
    names = dict.fromkeys(("origin", "upstream", *sorted(urls)))
    return [normal_remote(urls[name], folder) for name in names if urls.get(name)]
