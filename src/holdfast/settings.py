"""Settings: the only reader of the environment and of `config.toml`.

Order: an environment variable beats the file, the file beats the default. A key that nobody
knows is an error, because a misspelled privacy setting must not fail in silence.
"""

from __future__ import annotations

import os
import re
import tomllib
from binascii import crc32
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from holdfast.errors import SettingsError
from holdfast.frozen import dataclass

FILE_NAME = "config.toml"
NO_MODEL = "none"
_KNOWN = {
    "": ("bank", "store", "banks", "redact", "exclude", "embed", "rerank", "brief", "models",
         "promote", "git", "providers", "forge"),
    "git": ("read",),
    "forge": ("url", "token_env", "wait_s", "requests"),
    "redact": ("patterns",),
    "exclude": ("tools", "paths", "projects"),
    "embed": ("model", "endpoint", "endpoint_model", "api_key_env"),
    "rerank": ("model",),
    "promote": ("automatic", "memory"),
    "providers": ("use", "plugin_dirs", "skip", "env"),
    "brief": ("session", "goal", "triggers", "tokens", "exchanges", "subagents"),
    "models": (
        "use", "summaries", "extraction", "reflection", "agent", "endpoint", "api_key_env",
        "tool_uses", "days", "input_tokens", "timeout_s", "day_tokens", "day_usd",
        "session_tokens", "session_usd", "prices",
    ),
}  # fmt: skip
OFF, ASKED, ALWAYS = "off", "asked", "always"
SERVICES = (NO_MODEL, "auto", "claude", "anthropic", "openai")


@dataclass(frozen=True, slots=True)
class Brief:
    """What is put into a session: at its start, at its first prompt, before an edit and after an
    error; how long the first of these may be, how much recent work it lists, and whether
    subagents get it too."""

    session: bool = True
    goal: bool = True
    triggers: bool = True
    tokens: int = 2000
    exchanges: int = 12
    subagents: bool = False


@dataclass(frozen=True, slots=True)
class Caps:
    """What model services may take at most, in a day and for one session: tokens that go in and
    come out, and money. 0 means nothing at all."""

    day_tokens: int = 500_000
    day_usd: float = 1.0
    session_tokens: int = 100_000
    session_usd: float = 0.25


@dataclass(frozen=True, slots=True)
class Models:
    """Which model service may be asked, if any, and for what; "" is the service's usual model.
    Sessions are summed up every `tool_uses` uses of a tool and when they end, as far as they
    went on in the last `days`. `prices` are dollars a million tokens, in and out."""

    use: str = NO_MODEL
    summaries: str = ""
    extraction: str = ""
    reflection: str = ""
    agent: str = ""
    endpoint: str = ""
    api_key_env: str = ""
    # The key that `api_key_env` names, and those that lie where each service looks for its own.
    api_key: str = field(default="", repr=False)
    anthropic_key: str = field(default="", repr=False)
    openai_key: str = field(default="", repr=False)
    tool_uses: int = 5
    days: int = 7
    input_tokens: int = 8000
    timeout_s: int = 120
    caps: Caps = field(default_factory=Caps)
    prices: tuple[tuple[str, tuple[float, float]], ...] = ()


@dataclass(frozen=True, slots=True)
class Promote:
    """Whether what has earned the rank of a rule is written without asking: into the files of
    rules, and into the semantic memory."""

    automatic: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """Plugins that may be asked too: never, where a question says so, or with every `ask`. More
    folders of plugins, plugins to leave alone, and the variables that they may be given."""

    use: str = OFF
    plugin_dirs: tuple[Path, ...] = ()
    skip: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ForgeAccess:
    """Where pulls and issues are read when somebody asks for it: the address of the API, the
    variable that holds the token, how long a run waits for limits in all, and how many requests
    it may make (0: any number)."""

    url: str = "https://api.github.com"
    token_env: str = ""
    token: str = field(default="", repr=False)
    wait_s: int = 120
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation behaves."""

    home: Path
    claude_dir: Path
    bank: str = ""
    # The server that keeps the memory; "" where it is a file. A password may be part of it.
    store: str = field(default="", repr=False)
    banks: tuple[tuple[str, str], ...] = ()
    redact_patterns: tuple[tuple[str, str], ...] = ()
    exclude_tools: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    exclude_projects: tuple[str, ...] = ()
    embed_model: str = ""
    embed_endpoint: str = ""
    embed_endpoint_model: str = ""
    embed_api_key_env: str = ""
    embed_api_key: str = field(default="", repr=False)
    rerank_model: str = ""
    brief: Brief = field(default_factory=Brief)
    models: Models = field(default_factory=Models)
    promote: Promote = field(default_factory=Promote)
    # Whether the histories of repositories that were read once are followed from then on.
    git_read: bool = True
    providers: Outside = field(default_factory=Outside)
    forge: ForgeAccess = field(default_factory=ForgeAccess)
    # Whether the user chose `claude_dir`: Claude Code then keeps all of its files in it.
    own_claude_dir: bool = False

    @property
    def database(self) -> Path:
        """The file that holds the memory."""
        return self.home / "memory.db"

    @property
    def vectors(self) -> Path:
        """Where matrices of vectors lie; those of one store mean nothing to another."""
        folder = self.home / "vectors"
        return folder / f"team-{crc32(self.store.encode()):08x}" if self.store else folder


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment and the settings file of the home it names."""
    env = os.environ if environment is None else environment
    user = Path(env.get("HOME") or "~").expanduser()
    home = Path(env.get("HOLDFAST_HOME") or user / ".holdfast").expanduser()
    claude = Path(env.get("CLAUDE_CONFIG_DIR") or user / ".claude").expanduser()
    file = _Table(home / FILE_NAME)
    redact, exclude = file.table("redact"), file.table("exclude")
    embed, rerank = file.table("embed"), file.table("rerank")
    api_key_env = env.get("HOLDFAST_EMBED_API_KEY_ENV") or embed.text("api_key_env")
    return Settings(
        home=home,
        claude_dir=claude,
        bank=env.get("HOLDFAST_BANK") or file.text("bank"),
        store=env.get("HOLDFAST_STORE") or file.text("store"),
        banks=file.pairs("banks"),
        redact_patterns=_checked(file.path, redact.pairs("patterns")),
        exclude_tools=exclude.texts("tools"),
        exclude_paths=exclude.texts("paths"),
        exclude_projects=exclude.texts("projects"),
        embed_model=env.get("HOLDFAST_EMBEDDER") or embed.text("model"),
        embed_endpoint=env.get("HOLDFAST_EMBED_ENDPOINT") or embed.text("endpoint"),
        embed_endpoint_model=(
            env.get("HOLDFAST_EMBED_ENDPOINT_MODEL") or embed.text("endpoint_model")
        ),
        embed_api_key_env=api_key_env,
        embed_api_key=env.get(api_key_env, "") if api_key_env else "",
        rerank_model=env.get("HOLDFAST_RERANKER") or rerank.text("model"),
        brief=_brief(file.table("brief")),
        models=_models(file.table("models"), env),
        promote=_promote(file.table("promote")),
        git_read=file.table("git").flag("read", True),
        providers=_providers(file.table("providers"), env, user),
        forge=_forge(file.table("forge"), env),
        own_claude_dir=bool(env.get("CLAUDE_CONFIG_DIR")),
    )


def _brief(table: _Table) -> Brief:
    usual = Brief()
    return Brief(
        session=table.flag("session", usual.session),
        goal=table.flag("goal", usual.goal),
        triggers=table.flag("triggers", usual.triggers),
        tokens=table.number("tokens", usual.tokens),
        exchanges=table.number("exchanges", usual.exchanges),
        subagents=table.flag("subagents", usual.subagents),
    )


def _promote(table: _Table) -> Promote:
    return Promote(table.flag("automatic", False), table.flag("memory", False))


def _providers(table: _Table, env: Mapping[str, str], user: Path) -> Outside:
    use = env.get("HOLDFAST_PROVIDERS") or table.text("use") or OFF
    if use not in (OFF, ASKED, ALWAYS):
        raise SettingsError(
            f"providers.use is {use!r}.", f"It may be {OFF!r}, {ASKED!r} or {ALWAYS!r}."
        )
    folders = [name.replace("~", str(user), 1) for name in table.texts("plugin_dirs")]
    given = {name: env[name] for name in table.texts("env") if name in env}
    return Outside(use, tuple(map(Path, folders)), table.texts("skip"), tuple(given.items()))


def _forge(table: _Table, env: Mapping[str, str]) -> ForgeAccess:
    usual = ForgeAccess()
    url = env.get("HOLDFAST_FORGE_URL") or table.text("url")
    name = table.text("token_env")
    token = env.get("GH_TOKEN") or env.get("GITHUB_TOKEN") or ""
    if url and url.rstrip("/") != usual.url:
        token = env.get("GH_ENTERPRISE_TOKEN") or env.get("GITHUB_ENTERPRISE_TOKEN") or token
    return ForgeAccess(
        url=url or usual.url,
        token_env=name,
        token=(env.get(name, "") if name else token).strip(),
        wait_s=table.number("wait_s", usual.wait_s),
        requests=table.number("requests", usual.requests),
    )


def _models(table: _Table, env: Mapping[str, str]) -> Models:
    usual = Models()
    use = env.get("HOLDFAST_MODELS") or table.text("use") or usual.use
    if use not in SERVICES:
        raise SettingsError(
            f"models.use is {use!r}, which is no service.", f"Known: {', '.join(SERVICES)}."
        )
    caps = Caps(
        day_tokens=table.number("day_tokens", usual.caps.day_tokens),
        day_usd=table.amount("day_usd", usual.caps.day_usd),
        session_tokens=table.number("session_tokens", usual.caps.session_tokens),
        session_usd=table.amount("session_usd", usual.caps.session_usd),
    )
    key_env = table.text("api_key_env")
    return Models(
        use=use,
        summaries=table.text("summaries"),
        extraction=table.text("extraction"),
        reflection=table.text("reflection"),
        agent=table.text("agent"),
        endpoint=table.text("endpoint"),
        api_key_env=key_env,
        api_key=env.get(key_env, "") if key_env else "",
        anthropic_key=env.get("ANTHROPIC_API_KEY", ""),
        openai_key=env.get("OPENAI_API_KEY", ""),
        tool_uses=table.number("tool_uses", usual.tool_uses),
        days=table.number("days", usual.days),
        input_tokens=max(1000, table.number("input_tokens", usual.input_tokens)),
        timeout_s=max(1, table.number("timeout_s", usual.timeout_s)),
        caps=caps,
        prices=table.prices("prices"),
    )


def _checked(path: Path, patterns: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    for name, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise SettingsError(
                f"{path}: redact.patterns.{name} is not a regular expression: {error}.",
                "Correct the pattern; nothing is read until then.",
            ) from error
    return patterns


class _Table:
    """A table of the settings file, with complaints that say where to look."""

    def __init__(self, path: Path, values: dict[str, Any] | None = None, name: str = "") -> None:
        self.path = path
        self._name = name
        self._values = self._read() if values is None else values
        known = _KNOWN.get(name)
        for key in self._values:
            if known is not None and key not in known:
                raise SettingsError(
                    f"{path}: nobody knows the setting {self._spell(key)!r}.",
                    f"Known here: {', '.join(self._spell(k) for k in known)}.",
                )

    def _read(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except NotADirectoryError as error:
            raise SettingsError(
                f"{self.path.parent} is a file, not a folder.",
                "Set HOLDFAST_HOME to a folder; it is made if it is not there.",
            ) from error
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(
                f"{self.path} cannot be read: {error}.", "Correct it, or move it away."
            ) from error

    def _spell(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _wrong(self, key: str, wanted: str) -> SettingsError:
        return SettingsError(
            f"{self.path}: {self._spell(key)} must be {wanted}.", "Correct it and run again."
        )

    def table(self, key: str) -> _Table:
        value: object = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        return _Table(self.path, cast(dict[str, Any], value), self._spell(key))

    def text(self, key: str) -> str:
        value: object = self._values.get(key, "")
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def flag(self, key: str, usual: bool) -> bool:
        value: object = self._values.get(key, usual)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def number(self, key: str, usual: int) -> int:
        value: object = self._values.get(key, usual)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(key, "a whole number, zero or more")
        return value

    def amount(self, key: str, usual: float) -> float:
        value: object = self._values.get(key, usual)
        if not _is_amount(value):
            raise self._wrong(key, "a number, zero or more")
        return float(cast(float, value))

    def prices(self, key: str) -> tuple[tuple[str, tuple[float, float]], ...]:
        value: object = self._values.get(key, {})
        items = cast(dict[str, object], value) if isinstance(value, dict) else {"": None}
        found: list[tuple[str, tuple[float, float]]] = []
        for name, item in items.items():
            pair = cast(list[object], item) if isinstance(item, list) else []
            if len(pair) != 2 or not all(map(_is_amount, pair)):
                raise self._wrong(key, "a table of models, each with two prices: [in, out]")
            found.append((name, (float(cast(float, pair[0])), float(cast(float, pair[1])))))
        return tuple(found)

    def texts(self, key: str) -> tuple[str, ...]:
        value: object = self._values.get(key, [])
        items = cast(list[object], value) if isinstance(value, list) else [None]
        if not all(isinstance(item, str) for item in items):
            raise self._wrong(key, "a list of strings")
        return tuple(str(item) for item in items)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        value: object = self._values.get(key, {})
        items = cast(dict[str, object], value) if isinstance(value, dict) else {"": None}
        if not all(isinstance(item, str) for item in items.values()):
            raise self._wrong(key, "a table of strings")
        return tuple((name, str(item)) for name, item in items.items())


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
