"""Finds the bank of a repository in a folder that no session was in yet, such as a new worktree.

Setup copies this file beside answer.py, which imports it only for such a folder. It imports the
standard library alone.
"""

from __future__ import annotations

import os

# Of a git config: more would take time and add nothing.
MAX_GIT_CONFIG_CHARS = 200_000


def bank_of_repository(top: str, git: str, aliases: dict[str, str]) -> str:
    """The bank of a repository, by its folder `.git` or by its remote; "" where none is known."""
    common = git
    if os.path.isfile(git):
        common = os.path.join(top, first_line(git).partition("gitdir:")[2].strip())
        shared = os.path.join(common, "commondir")
        common = os.path.join(common, first_line(shared) if os.path.isfile(shared) else "")
    common = os.path.realpath(common)
    found, url = aliases.get("gitdir:" + common, ""), remote_url(common)
    return found or (aliases.get("remote:" + normal_remote(url, top), "") if url else "")


def remote_url(common: str) -> str:
    """The URL of the remote that identifies a repository: origin, upstream, or the first."""
    urls: dict[str, str] = {}
    section = ""
    with open(os.path.join(common, "config"), encoding="utf-8", errors="replace") as file:
        lines = file.read(MAX_GIT_CONFIG_CHARS).splitlines()
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line[1:].rstrip("]").strip()
        elif section.startswith('remote "') and line.partition("=")[0].strip() == "url":
            urls.setdefault(section[8:].rstrip('"'), line.partition("=")[2].strip())
    return next((urls[n] for n in ("origin", "upstream", *sorted(urls)) if urls.get(n)), "")


def normal_remote(url: str, folder: str) -> str:
    """One spelling for all URLs of a repository: `github.com/org/repo`. Does the same as
    `holdfast.sources.project.normal_remote`, which it must not import."""
    url = url.strip()
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if not slash or scheme.lower() == "file":
        host, colon, path = url.partition(":")
        if found or not colon or not path or "/" in host or path.startswith("//"):
            path = os.path.normpath(os.path.join(folder, url.removeprefix("file://")))
            return f"local{path}".removesuffix(".git")
    host = host.rpartition("@")[2]
    if found:
        ends = host.find("]") + 1
        host = host[:ends] + host[ends:].partition(":")[0]
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}".lower()


def first_line(path: str) -> str:
    """The first line of a file, stripped."""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()
