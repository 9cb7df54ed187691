from pathlib import Path

import pytest

from holdfast.errors import SettingsError
from holdfast.settings import FILE_NAME, ModelSettings, RemoteSettings, Settings, load_settings


def write(home: Path, text: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    (home / FILE_NAME).write_text(text, "utf-8")
    return {"HOLDFAST_HOME": str(home)}


def test_without_environment_and_file_the_defaults_apply(tmp_path: Path) -> None:
    settings = load_settings({"HOME": str(tmp_path)})

    assert settings == Settings(home=tmp_path / ".holdfast", claude_dir=tmp_path / ".claude")
    assert settings.database == tmp_path / ".holdfast" / "memory.db"


def test_the_environment_can_set_the_folders(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "HOLDFAST_HOME": str(tmp_path / "memory"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
    }

    settings = load_settings(environment)

    assert (settings.home, settings.claude_dir) == (tmp_path / "memory", tmp_path / "claude")


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    environment = write(tmp_path / "h", 'bank = "filed"') | {"HOLDFAST_BANK": "", "HOME": ""}

    assert load_settings(environment).bank == "filed"


def test_the_process_environment_is_read_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BANK", "mine")

    assert (load_settings().home, load_settings().bank) == (tmp_path, "mine")


def test_the_environment_overrides_the_file_and_the_file_the_default(tmp_path: Path) -> None:
    environment = write(tmp_path / "h", 'bank = "filed"')

    assert load_settings({"HOLDFAST_HOME": str(tmp_path / "empty")}).bank == ""
    assert load_settings(environment).bank == "filed"
    assert load_settings(environment | {"HOLDFAST_BANK": "named"}).bank == "named"


def test_every_setting_of_the_file_is_read(tmp_path: Path) -> None:
    environment = write(
        tmp_path / "h",
        """
        [banks]
        "/home/dev/work/*" = "work"
        [redact.patterns]
        customer = 'CUST-\\d+'
        [exclude]
        tools = ["mcp__mail__*"]
        paths = ["secrets/*", "*.pem"]
        projects = ["/home/dev/private"]
        [embed]
        model = "/models/mine"
        endpoint = "http://localhost:11434/v1"
        endpoint_model = "nomic-embed-text"
        api_key_env = "EMBED_KEY"
        [rerank]
        model = "/models/reranker.onnx"
        """,
    )

    settings = load_settings(environment)

    assert settings.banks == (("/home/dev/work/*", "work"),)
    assert settings.redact_patterns == (("customer", r"CUST-\d+"),)
    assert settings.exclude_tools == ("mcp__mail__*",)
    assert settings.exclude_paths == ("secrets/*", "*.pem")
    assert settings.exclude_projects == ("/home/dev/private",)
    assert settings.embed_model == "/models/mine"
    assert settings.embed_endpoint == "http://localhost:11434/v1"
    assert settings.embed_endpoint_model == "nomic-embed-text"
    assert settings.embed_api_key_env == "EMBED_KEY" and settings.embed_api_key == ""
    assert settings.rerank_model == "/models/reranker.onnx"


def test_models_can_be_set_by_the_environment(tmp_path: Path) -> None:
    environment = write(tmp_path / "h", '[embed]\nmodel = "filed"\n[rerank]\nmodel = "filed"')

    settings = load_settings(
        environment
        | {
            "HOLDFAST_EMBEDDER": "none",
            "HOLDFAST_EMBED_ENDPOINT": "http://localhost:1/v1",
            "HOLDFAST_EMBED_ENDPOINT_MODEL": "small",
            "HOLDFAST_EMBED_API_KEY_ENV": "EMBED_KEY",
            "HOLDFAST_RERANKER": "/models/reranker.onnx",
            "EMBED_KEY": "k-123",
        }
    )

    assert settings.embed_model == "none" and settings.rerank_model == "/models/reranker.onnx"
    assert settings.embed_endpoint == "http://localhost:1/v1"
    assert settings.embed_endpoint_model == "small" and settings.embed_api_key == "k-123"
    assert "k-123" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "complaint", "remedy"),
    [
        ('bnak = "x"', "'bnak'", "bank"),
        ("[exclude]\ntool = []", "'exclude.tool'", "exclude.tools"),
        ("[redact]\npattern = {}", "'redact.pattern'", "redact.patterns"),
        ("[embed]\nmodle = 'x'", "'embed.modle'", "embed.model"),
        ("[rerank]\nmodel = 5", "rerank.model must be a string", ""),
        ("bank = 5", "bank must be a string", ""),
        ('exclude = "all"', "exclude must be a table", ""),
        ("redact = []", "redact must be a table", ""),
        ('[exclude]\ntools = "Bash"', "exclude.tools must be a list of strings", ""),
        ("[exclude]\npaths = [1]", "exclude.paths must be a list of strings", ""),
        ("[redact.patterns]\na = 5", "redact.patterns must be a table of strings", ""),
        ("banks = []", "banks must be a table of strings", ""),
        ("[redact.patterns]\na = '('", "redact.patterns.a is not a regular expression", ""),
        ("bank = ", "cannot be read", ""),
        ("bank = 1\nbank = 2", "cannot be read", ""),
    ],
)
def test_an_invalid_setting_is_an_error_that_names_it_and_a_remedy(
    tmp_path: Path, text: str, complaint: str, remedy: str
) -> None:
    environment = write(tmp_path / "h", text)

    with pytest.raises(SettingsError) as caught:
        load_settings(environment)

    assert str(tmp_path / "h" / FILE_NAME) in caught.value.message
    assert complaint in caught.value.message
    assert caught.value.remedy and remedy in caught.value.remedy


def test_a_file_that_is_not_text_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"bank = '\xff\xfe'")

    with pytest.raises(SettingsError, match="cannot be read") as caught:
        load_settings({"HOLDFAST_HOME": str(tmp_path)})

    assert caught.value.remedy


def test_a_file_that_cannot_be_opened_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()

    with pytest.raises(SettingsError, match="cannot be read") as caught:
        load_settings({"HOLDFAST_HOME": str(tmp_path)})

    assert caught.value.remedy


def models_of(tmp_path: Path, text: str, **env: str) -> ModelSettings:
    (tmp_path / "config.toml").write_text(text)
    return load_settings({"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path), **env}).models


def test_no_model_service_is_used_unless_the_settings_say_so(tmp_path: Path) -> None:
    assert models_of(tmp_path, "", ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k").use == "none"
    assert models_of(tmp_path, "", HOLDFAST_MODELS="auto").use == "auto"


def test_keys_of_model_services_are_never_shown(tmp_path: Path) -> None:
    text = '[models]\nuse = "openai"\napi_key_env = "MINE"\n'
    env = {"MINE": "secret-1", "ANTHROPIC_API_KEY": "secret-2", "OPENAI_API_KEY": "secret-3"}
    models = models_of(tmp_path, text, **env)
    assert models.api_key == "secret-1" and "secret" not in repr(models)


@pytest.mark.parametrize(
    "wrong",
    [
        'use = "gemini"',
        'use = ["auto"]',
        "day_usd = -1",
        'day_usd = "1"',
        "day_usd = inf",
        "day_usd = nan",
        "session_tokens = 1.5",
        "prices = 3",
        "prices = { a = [1] }",
        'prices = { a = [1, "2"] }',
        "day_token = 5",
    ],
)
def test_an_invalid_cap_is_an_error(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SettingsError):
        models_of(tmp_path, f"[models]\n{wrong}\n")


def test_prices_and_caps_are_read(tmp_path: Path) -> None:
    models = models_of(tmp_path, "[models]\nday_usd = 2\nprices = { m = [0, 0.5] }\n")
    assert models.caps.day_usd == 2.0 and models.prices == (("m", (0.0, 0.5)),)


def test_team_servers_are_queried_unless_turned_off(tmp_path: Path) -> None:
    home = {"HOLDFAST_HOME": str(tmp_path)}
    assert load_settings(home).remote == RemoteSettings("always", 800)
    (tmp_path / "config.toml").write_text('[remote]\nuse = "off"\nwait_ms = 200\n')
    assert load_settings(home).remote == RemoteSettings("off", 200)
    assert load_settings({**home, "HOLDFAST_REMOTE": "always"}).remote.use == "always"
    with pytest.raises(SettingsError, match="use is 'sometimes'"):
        load_settings({**home, "HOLDFAST_REMOTE": "sometimes"})
