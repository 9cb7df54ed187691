"""Settings: the only reader of the environment and of `config.toml`.

An environment variable has precedence over the file, the file over the default. An unknown key is
an error, because a misspelled privacy setting must not be ignored silently.
"""

from __future__ import annotations

import os
import re
from binascii import crc32
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.lazy_dataclass import dataclass, field
from holdfast.principal import Principal
from holdfast.toml_table import TomlTable

FILE_NAME = "config.toml"
NO_MODEL = "none"
# The reranker that comes with Holdfast, in every search.
SHIPPED = "shipped"
_MODEL_KEYS = (
    "summaries", "extraction", "reflection", "agent", "endpoint", "api_key_env",
    "tool_uses", "days", "input_tokens", "timeout_s",
)  # fmt: skip
_CAP_KEYS = ("day_tokens", "day_usd", "session_tokens", "session_usd")
_KNOWN_KEYS = {
    "": ("bank", "store", "banks", "redact", "exclude", "embed", "rerank", "brief", "models",
         "promote", "git", "providers", "forge", "remote", "serve"),
    "git": ("read", "sessions"),
    "forge": ("url", "token_env", "wait_s", "requests"),
    "remote": ("use", "wait_ms"),
    "serve": ("waiting", "request_s", "body_bytes", "start_s", "end_s", "connections", "workers"),
    "redact": ("patterns",),
    "exclude": ("tools", "paths", "projects"),
    "embed": ("model", "endpoint", "endpoint_model", "api_key_env"),
    "rerank": ("model",),
    "promote": ("automatic", "memory"),
    "providers": ("use", "plugin_dirs", "skip", "env", "wait_ms"),
    "brief": ("session", "goal", "triggers", "tokens", "exchanges", "subagents", "notice"),
    "models": ("use", *_MODEL_KEYS, *_CAP_KEYS, "prices"),
}  # fmt: skip
# Endings of environment variables that name folders, in which other agents keep their files.
_FOLDER_VARIABLES = ("_HOME", "_DIR", "APPDATA")
OFF, ASKED, ALWAYS = "off", "asked", "always"
SERVICES = (NO_MODEL, "auto", "claude", "anthropic", "openai")


@dataclass(frozen=True, slots=True)
class BriefSettings:
    """Which context is injected into a session: at its start (`session`), at its first prompt
    (`goal`), before an edit and after an error (`triggers`)."""

    session: bool = True
    goal: bool = True
    triggers: bool = True
    # Length of the brief at the start of a session. More tokens tell more and leave less of the
    # agent's context for the work.
    tokens: int = 2000
    # Recent exchanges that this brief lists at most.
    exchanges: int = 12
    # Whether subagents get it too; most have one small task.
    subagents: bool = False
    # Whether the user sees a line about it when a session starts.
    notice: bool = True


@dataclass(frozen=True, slots=True)
class SpendCaps:
    """The most that model services may take in a day and for one session: input and output
    tokens together, and dollars. 0 means nothing at all. The defaults bound what a wrong setting
    can cost: a dollar a day."""

    day_tokens: int = 500_000
    day_usd: float = 1.0
    session_tokens: int = 100_000
    session_usd: float = 0.25


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model service may be asked, if any, and which model for which task; "" is the
    service's default model. `prices` are dollars per million tokens, input and output."""

    use: str = NO_MODEL
    summaries: str = ""
    extraction: str = ""
    reflection: str = ""
    agent: str = ""
    endpoint: str = ""
    api_key_env: str = ""
    # The key in the variable `api_key_env`, and those in the services' own variables.
    api_key: str = field(default="", repr=False)
    anthropic_key: str = field(default="", repr=False)
    openai_key: str = field(default="", repr=False)
    # A running session is summarised every so many tool uses, and once more when it ends. Fewer
    # keep summaries fresher and cost more calls.
    tool_uses: int = 5
    # Only sessions of the last so many days are summarised, so that switching models on does not
    # pay for the whole history.
    days: int = 7
    # Length of the text that one call is given.
    input_tokens: int = 8000
    # Seconds to wait for one answer.
    timeout_s: int = 120
    caps: SpendCaps = field(default_factory=SpendCaps)
    prices: tuple[tuple[str, tuple[float, float]], ...] = ()


@dataclass(frozen=True, slots=True)
class PromotionSettings:
    """Whether a pattern that qualifies as a rule is written without asking: into rule files
    (`automatic`), and into the memory (`memory`)."""

    automatic: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Plugins that are asked too: never (`off`), when a question says so (`asked`), or with every
    `ask` (`always`); further plugin folders, plugins to skip, the environment variables that
    plugins are given, and how long to wait for their answer."""

    use: str = OFF
    plugin_dirs: tuple[Path, ...] = ()
    skip: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    wait_ms: int = 4_200


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Whether team servers are searched along with this memory, and how long to wait for them."""

    use: str = ALWAYS
    # A server that is slower is left out of the answer: completeness against the time that a
    # person or an agent waits.
    wait_ms: int = 800
    # The key for a server that is being added.
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ForgeSettings:
    """The forge from which pulls and issues are read on request: the address of its API, and the
    variable that contains the token."""

    url: str = "https://api.github.com"
    token_env: str = ""
    token: str = field(default="", repr=False)
    # How long one run waits for rate limits in all; then it stops and the next run continues.
    wait_s: int = 120
    # Requests that one run may make; 0 for any number.
    requests: int = 0


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Limits of a team server. They keep one client, or one slow request, from taking the server
    away from the others; a request beyond them is answered with an error."""

    # Requests that may wait for a thread.
    waiting: int = 200
    # Seconds until a request is aborted.
    request_s: int = 120
    # Size of a request's body.
    body_bytes: int = 1_000_000
    # Seconds that a server waits for running requests before it stops.
    end_s: int = 20
    # Seconds that a server waits for its database when it starts.
    start_s: int = 60
    # Open connections; each is a file descriptor, and the usual limit of a process is 1024.
    connections: int = 1000
    # Processes that recall; 0: one for each core.
    workers: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation behaves."""

    home: Path
    claude_dir: Path
    bank: str = ""
    # The address of the database server; "" where the memory is a file. It may contain a password.
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
    # Whether new commits of repositories that were read once are read automatically.
    git_read: bool = True
    # Whether the histories of repositories that sessions work in are read without being asked for.
    git_sessions: bool = True
    providers: PluginSettings = field(default_factory=PluginSettings)
    forge: ForgeSettings = field(default_factory=ForgeSettings)
    remote: RemoteSettings = field(default_factory=RemoteSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    # The principal of all requests; None for the owner of the home.
    principal: Principal | None = None
    # Whether the user set `claude_dir`: Claude Code then keeps all of its files in it.
    own_claude_dir: bool = False
    # Where other agents keep their files: the user's home if `claude_dir` is not in it, and the
    # environment variables that name folders.
    user_home: Path | None = None
    folders: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def database(self) -> Path:
        """The database file."""
        return self.home / "memory.db"

    @property
    def remotes(self) -> Path:
        """The file that lists team servers with their keys."""
        return self.home / "remotes.json"

    @property
    def vectors(self) -> Path:
        """The folder of vector matrices; each database has its own."""
        folder = self.home / "vectors"
        return folder / f"team-{crc32(self.store.encode()):08x}" if self.store else folder


def load_settings(
    environment: Mapping[str, str] | None = None, without_file: bool = False
) -> Settings:
    """Read the environment and, unless `without_file`, the settings file of the home it names."""
    env = os.environ if environment is None else environment
    user = Path(env.get("HOME") or "~").expanduser()
    home = Path(env.get("HOLDFAST_HOME") or user / ".holdfast").expanduser()
    claude = Path(env.get("CLAUDE_CONFIG_DIR") or user / ".claude").expanduser()
    file = TomlTable(home / FILE_NAME, _KNOWN_KEYS, {} if without_file else None)
    redact, exclude = file.table("redact"), file.table("exclude")
    embed, rerank = file.table("embed"), file.table("rerank")
    api_key_env = env.get("HOLDFAST_EMBED_API_KEY_ENV") or embed.text("api_key_env")
    return Settings(
        home=home,
        claude_dir=claude,
        bank=env.get("HOLDFAST_BANK") or file.text("bank"),
        store=env.get("HOLDFAST_STORE") or file.text("store"),
        banks=file.pairs("banks"),
        redact_patterns=_check_patterns(file.path, redact.pairs("patterns")),
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
        brief=BriefSettings(**file.table("brief").values(BriefSettings(), _KNOWN_KEYS["brief"])),
        models=_models(file.table("models"), env),
        promote=PromotionSettings(
            **file.table("promote").values(PromotionSettings(), _KNOWN_KEYS["promote"])
        ),
        git_read=file.table("git").flag("read", True),
        git_sessions=file.table("git").flag("sessions", True),
        providers=_providers(file.table("providers"), env, user),
        forge=_forge(file.table("forge"), env),
        remote=_remote(file.table("remote"), env),
        serve=_serve(file.table("serve")),
        own_claude_dir=bool(env.get("CLAUDE_CONFIG_DIR")),
        user_home=user if env.get("CLAUDE_CONFIG_DIR") else None,
        folders={name: value for name, value in env.items() if name.endswith(_FOLDER_VARIABLES)},
    )


def _serve(table: TomlTable) -> ServeSettings:
    values = table.values(ServeSettings(), _KNOWN_KEYS["serve"])
    for name, value in values.items():
        if value < 1 and name != "workers":
            raise SettingsError(f"serve.{name} is {value}.", "It must be at least 1.")
    return ServeSettings(**values)


def _providers(table: TomlTable, env: Mapping[str, str], user: Path) -> PluginSettings:
    use = env.get("HOLDFAST_PROVIDERS") or table.text("use") or OFF
    if use not in (OFF, ASKED, ALWAYS):
        raise SettingsError(
            f"providers.use is {use!r}.", f"It may be {OFF!r}, {ASKED!r} or {ALWAYS!r}."
        )
    folders = [name.replace("~", str(user), 1) for name in table.texts("plugin_dirs")]
    given = {name: env[name] for name in table.texts("env") if name in env}
    return PluginSettings(
        use=use,
        plugin_dirs=tuple(map(Path, folders)),
        skip=table.texts("skip"),
        env=tuple(given.items()),
        wait_ms=table.number("wait_ms", PluginSettings().wait_ms),
    )


def _remote(table: TomlTable, env: Mapping[str, str]) -> RemoteSettings:
    use = env.get("HOLDFAST_REMOTE") or table.text("use") or ALWAYS
    if use not in (OFF, ALWAYS):
        raise SettingsError(f"remote.use is {use!r}.", f"It may be {OFF!r} or {ALWAYS!r}.")
    wait_ms = table.number("wait_ms", RemoteSettings().wait_ms)
    return RemoteSettings(use, wait_ms, env.get("HOLDFAST_REMOTE_KEY", ""))


def _forge(table: TomlTable, env: Mapping[str, str]) -> ForgeSettings:
    defaults = ForgeSettings()
    url = env.get("HOLDFAST_FORGE_URL") or table.text("url")
    name = table.text("token_env")
    token = env.get("GH_TOKEN") or env.get("GITHUB_TOKEN") or ""
    if url and url.rstrip("/") != defaults.url:
        token = env.get("GH_ENTERPRISE_TOKEN") or env.get("GITHUB_ENTERPRISE_TOKEN") or token
    if name:
        token = env.get(name, "")
    limits = table.values(defaults, ("wait_s", "requests"))
    return ForgeSettings(url or defaults.url, name, token.strip(), **limits)


def _models(table: TomlTable, env: Mapping[str, str]) -> ModelSettings:
    defaults = ModelSettings()
    use = env.get("HOLDFAST_MODELS") or table.text("use") or defaults.use
    if use not in SERVICES:
        raise SettingsError(
            f"models.use is {use!r}, which is not a service.", f"Known: {', '.join(SERVICES)}."
        )
    values = table.values(defaults, _MODEL_KEYS)
    values["input_tokens"] = max(1000, values["input_tokens"])
    values["timeout_s"] = max(1, values["timeout_s"])
    key_env = values["api_key_env"]
    return ModelSettings(
        **values,
        use=use,
        api_key=env.get(key_env, "") if key_env else "",
        anthropic_key=env.get("ANTHROPIC_API_KEY", ""),
        openai_key=env.get("OPENAI_API_KEY", ""),
        caps=SpendCaps(**table.values(defaults.caps, _CAP_KEYS)),
        prices=table.prices("prices"),
    )


def _check_patterns(
    path: Path, patterns: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    for name, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise SettingsError(
                f"{path}: redact.patterns.{name} is not a regular expression: {error}.",
                "Correct the pattern; nothing is read until then.",
            ) from error
    return patterns
