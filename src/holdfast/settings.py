"""Settings: the only reader of the environment and of `config.toml`.

Order: an environment variable beats the file, the file beats the default. A key that nobody
knows is an error, because a misspelled privacy setting must not fail in silence.
"""

from __future__ import annotations

import os
import re
from binascii import crc32
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.frozen import dataclass
from holdfast.principal import Principal
from holdfast.toml_table import TomlTable

FILE_NAME = "config.toml"
NO_MODEL = "none"
_KNOWN = {
    "": ("bank", "store", "banks", "redact", "exclude", "embed", "rerank", "brief", "models",
         "promote", "git", "providers", "forge", "remote", "serve"),
    "git": ("read",),
    "forge": ("url", "token_env", "wait_s", "requests"),
    "remote": ("use", "wait_ms"),
    "serve": ("rate", "burst", "at_once", "waiting", "request_s", "body_bytes", "end_s"),
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
_FOLDERS = ("_HOME", "_DIR", "APPDATA")
OFF, ASKED, ALWAYS = "off", "asked", "always"
SERVICES = (NO_MODEL, "auto", "claude", "anthropic", "openai")


@dataclass(frozen=True, slots=True)
class BriefSettings:
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
class SpendCaps:
    """What model services may take at most, in a day and for one session: tokens that go in and
    come out, and money. 0 means nothing at all."""

    day_tokens: int = 500_000
    day_usd: float = 1.0
    session_tokens: int = 100_000
    session_usd: float = 0.25


@dataclass(frozen=True, slots=True)
class ModelSettings:
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
    caps: SpendCaps = field(default_factory=SpendCaps)
    prices: tuple[tuple[str, tuple[float, float]], ...] = ()


@dataclass(frozen=True, slots=True)
class PromotionSettings:
    """Whether what has earned the rank of a rule is written without asking: into the files of
    rules, and into the semantic memory."""

    automatic: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Plugins that may be asked too: never, where a question says so, or with every `ask`. More
    folders of plugins, plugins to leave alone, and the variables that they may be given."""

    use: str = OFF
    plugin_dirs: tuple[Path, ...] = ()
    skip: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Whether servers of the team's are asked along with this memory, and for how long at most."""

    use: str = ALWAYS
    wait_ms: int = 800
    # The key for one that is about to be named.
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ForgeSettings:
    """Where pulls and issues are read when somebody asks for it: the address of the API, the
    variable that holds the token, how long a run waits for limits in all, and how many requests
    it may make (0: any number)."""

    url: str = "https://api.github.com"
    token_env: str = ""
    token: str = field(default="", repr=False)
    wait_s: int = 120
    requests: int = 0


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How much a server for a team takes on: requests a second of one key, how many may come in a
    burst and how many at once; how many questions may wait for a thread; how many seconds one may
    take before it is answered, how many bytes it may have, and how long a server that ends waits
    for what was begun."""

    rate: int = 50
    burst: int = 200
    at_once: int = 32
    waiting: int = 200
    request_s: int = 120
    body_bytes: int = 1_000_000
    end_s: int = 20


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
    brief: BriefSettings = field(default_factory=BriefSettings)
    models: ModelSettings = field(default_factory=ModelSettings)
    promote: PromotionSettings = field(default_factory=PromotionSettings)
    # Whether the histories of repositories that were read once are followed from then on.
    git_read: bool = True
    providers: PluginSettings = field(default_factory=PluginSettings)
    forge: ForgeSettings = field(default_factory=ForgeSettings)
    remote: RemoteSettings = field(default_factory=RemoteSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    # In whose name everything is asked and done; None for the owner of the home.
    principal: Principal | None = None
    # Whether the user chose `claude_dir`: Claude Code then keeps all of its files in it.
    own_claude_dir: bool = False
    # Where other agents keep their files: the user's folder if `claude_dir` is not in it, and the
    # variables that name folders.
    user_home: Path | None = None
    folders: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def database(self) -> Path:
        """The file that holds the memory."""
        return self.home / "memory.db"

    @property
    def remotes(self) -> Path:
        """Where servers of the team's are listed, with their keys."""
        return self.home / "remotes.json"

    @property
    def vectors(self) -> Path:
        """Where matrices of vectors lie; those of one store mean nothing to another."""
        folder = self.home / "vectors"
        return folder / f"team-{crc32(self.store.encode()):08x}" if self.store else folder


def load_settings(
    environment: Mapping[str, str] | None = None, without_file: bool = False
) -> Settings:
    """Read the environment and the settings file of the home it names, unless that is broken."""
    env = os.environ if environment is None else environment
    user = Path(env.get("HOME") or "~").expanduser()
    home = Path(env.get("HOLDFAST_HOME") or user / ".holdfast").expanduser()
    claude = Path(env.get("CLAUDE_CONFIG_DIR") or user / ".claude").expanduser()
    file = TomlTable(home / FILE_NAME, _KNOWN, {} if without_file else None)
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
        remote=_remote(file.table("remote"), env),
        serve=_serve(file.table("serve")),
        own_claude_dir=bool(env.get("CLAUDE_CONFIG_DIR")),
        user_home=user if env.get("CLAUDE_CONFIG_DIR") else None,
        folders={name: value for name, value in env.items() if name.endswith(_FOLDERS)},
    )


def _serve(table: TomlTable) -> ServeSettings:
    usual = ServeSettings()
    wanted = {name: table.number(name, getattr(usual, name)) for name in _KNOWN["serve"]}
    for name, value in wanted.items():
        if value < 1:
            raise SettingsError(f"serve.{name} is {value}.", "It must be at least 1.")
    return ServeSettings(**wanted)


def _brief(table: TomlTable) -> BriefSettings:
    usual = BriefSettings()
    return BriefSettings(
        session=table.flag("session", usual.session),
        goal=table.flag("goal", usual.goal),
        triggers=table.flag("triggers", usual.triggers),
        tokens=table.number("tokens", usual.tokens),
        exchanges=table.number("exchanges", usual.exchanges),
        subagents=table.flag("subagents", usual.subagents),
    )


def _promote(table: TomlTable) -> PromotionSettings:
    return PromotionSettings(table.flag("automatic", False), table.flag("memory", False))


def _providers(table: TomlTable, env: Mapping[str, str], user: Path) -> PluginSettings:
    use = env.get("HOLDFAST_PROVIDERS") or table.text("use") or OFF
    if use not in (OFF, ASKED, ALWAYS):
        raise SettingsError(
            f"providers.use is {use!r}.", f"It may be {OFF!r}, {ASKED!r} or {ALWAYS!r}."
        )
    folders = [name.replace("~", str(user), 1) for name in table.texts("plugin_dirs")]
    given = {name: env[name] for name in table.texts("env") if name in env}
    return PluginSettings(use, tuple(map(Path, folders)), table.texts("skip"), tuple(given.items()))


def _remote(table: TomlTable, env: Mapping[str, str]) -> RemoteSettings:
    use = env.get("HOLDFAST_REMOTE") or table.text("use") or ALWAYS
    if use not in (OFF, ALWAYS):
        raise SettingsError(f"remote.use is {use!r}.", f"It may be {OFF!r} or {ALWAYS!r}.")
    wait_ms = table.number("wait_ms", RemoteSettings().wait_ms)
    return RemoteSettings(use, wait_ms, env.get("HOLDFAST_REMOTE_KEY", ""))


def _forge(table: TomlTable, env: Mapping[str, str]) -> ForgeSettings:
    usual = ForgeSettings()
    url = env.get("HOLDFAST_FORGE_URL") or table.text("url")
    name = table.text("token_env")
    token = env.get("GH_TOKEN") or env.get("GITHUB_TOKEN") or ""
    if url and url.rstrip("/") != usual.url:
        token = env.get("GH_ENTERPRISE_TOKEN") or env.get("GITHUB_ENTERPRISE_TOKEN") or token
    return ForgeSettings(
        url=url or usual.url,
        token_env=name,
        token=(env.get(name, "") if name else token).strip(),
        wait_s=table.number("wait_s", usual.wait_s),
        requests=table.number("requests", usual.requests),
    )


def _models(table: TomlTable, env: Mapping[str, str]) -> ModelSettings:
    usual = ModelSettings()
    use = env.get("HOLDFAST_MODELS") or table.text("use") or usual.use
    if use not in SERVICES:
        raise SettingsError(
            f"models.use is {use!r}, which is no service.", f"Known: {', '.join(SERVICES)}."
        )
    caps = SpendCaps(
        day_tokens=table.number("day_tokens", usual.caps.day_tokens),
        day_usd=table.amount("day_usd", usual.caps.day_usd),
        session_tokens=table.number("session_tokens", usual.caps.session_tokens),
        session_usd=table.amount("session_usd", usual.caps.session_usd),
    )
    key_env = table.text("api_key_env")
    return ModelSettings(
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
