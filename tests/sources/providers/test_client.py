from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.app.search.plugin_search import PluginText, Providers
from holdfast.errors import InputError, ProviderError
from tests.support.plugins import (
    make_plugin,
    misbehaving_server,
    official_server,
    processes_of,
    providers_for,
    wait_until_gone,
)

pytestmark = pytest.mark.process  # the product starts the programs

SOON_S = 1.0


def meet(tmp_path: Path, mode: str, patience_s: float = 30.0, tool: str = "search") -> Providers:
    """Return providers with one server that misbehaves as `mode` says."""
    server = misbehaving_server(mode, tmp_path / "notes")
    plugin = make_plugin(tmp_path / "wiki", server, [f"mcp__main__{tool}"])
    return providers_for(tmp_path, plugin, patience_s=patience_s)


def ask(found: Providers) -> list[PluginText]:
    return found.ask(found.named("wiki"), "when do retries stop")


def test_a_server_of_the_official_library_is_queried_over_stdio(tmp_path: Path) -> None:
    tools = ["mcp__main__search_pages", "mcp__main__page_by_title"]
    plugin = make_plugin(tmp_path / "wiki", official_server(), tools)
    found = providers_for(tmp_path, plugin)
    result = found.ask(found.named("wiki"), "retry policy and caches")
    assert [one.tool for one in result] == ["search_pages", "search_pages"]
    assert result[0].text.startswith("Retries of the payment importer")
    offers = {offer.name: offer for offer in found.tools()}
    assert sorted(offers) == sorted(tools)
    assert offers["mcp__main__search_pages"].schema["required"] == ["query"]
    [page] = found.call("wiki", "page_by_title", {"title": "cache", "version": 3})
    assert page.text == "The cache is warmed after the nightly import, never before. (version 3)"
    with pytest.raises(InputError, match="delete_pages' of wiki is not allowed"):
        found.call("wiki", "delete_pages", {"query": "retry"})


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("dies", "it ended or refused the request"),
        ("fails", "its tool reports a failure"),
        ("old", "its answer is invalid"),
        ("twice", "none of its allowed tools is a search"),
        ("nonsense", "its answer is invalid"),
    ],
)
def test_a_misbehaving_provider_is_reported_and_ended(tmp_path: Path, mode: str, why: str) -> None:
    with pytest.raises(ProviderError, match=why):
        ask(meet(tmp_path, mode))
    wait_until_gone(processes_of(tmp_path / "notes"))


@pytest.mark.parametrize("mode", ["hangs", "hangs-later"])
def test_a_provider_that_hangs_is_ended_in_time(tmp_path: Path, mode: str) -> None:
    with pytest.raises(ProviderError, match="it did not answer within 1 s"):
        ask(meet(tmp_path, mode, SOON_S))
    wait_until_gone(processes_of(tmp_path / "notes"))


def test_only_pings_of_a_provider_are_answered(tmp_path: Path) -> None:
    ask(meet(tmp_path, "asks"))
    noted = (tmp_path / "notes").read_text().splitlines()
    replies = [json.loads(line) for line in noted if line.startswith("{")]
    assert replies[0] == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert replies[1]["id"] == "b" and "error" in replies[1]


def test_only_allowed_tools_are_called_whatever_is_listed(tmp_path: Path) -> None:
    found = meet(tmp_path, "more")
    ask(found)
    assert [offer.name for offer in found.tools()] == ["mcp__main__search"]
    for tool in ("search_secrets", "mcp__main__delete", "delete", "", "mcp__main__"):
        with pytest.raises(InputError, match="is not allowed"):
            found.call("wiki", tool, {"query": "x"})
    called = [line for line in (tmp_path / "notes").read_text().splitlines() if "called" in line]
    assert called == ['called search {"query": "when do retries stop"}']


def test_a_tool_that_writes_is_never_chosen_automatically(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="none of its allowed tools is a search"):
        ask(meet(tmp_path, "more", tool="delete"))
    assert "called" not in (tmp_path / "notes").read_text()


def test_many_texts_and_long_texts_are_truncated(tmp_path: Path) -> None:
    assert len(ask(meet(tmp_path, "many"))) == 10
    [long] = ask(meet(tmp_path, "long"))
    assert len(long.text) <= 2000 and long.text.endswith("…")
    with pytest.raises(ProviderError, match="none of its allowed tools"):
        ask(meet(tmp_path, "endless"))  # the same page over and over


def test_a_json_list_in_a_result_is_split_into_texts(tmp_path: Path) -> None:
    texts = [result.text for result in ask(meet(tmp_path, "list"))]
    assert texts[0] == "title: Retries 0\nbody: stop\nurl: x" and len(texts) == 3


def test_secrets_and_terminal_codes_are_removed_from_results(tmp_path: Path) -> None:
    [secret] = ask(meet(tmp_path, "secret"))
    assert "ghp_" not in secret.text and "[redacted:github-token]" in secret.text
    [orders] = ask(meet(tmp_path, "orders"))
    assert "\x1b" not in orders.text and "\x07" not in orders.text


def test_secrets_are_removed_from_a_question_before_it_is_sent(tmp_path: Path) -> None:
    found = meet(tmp_path, "good")
    key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    found.ask(found.named("wiki"), f"why does {key} fail {'x ' * 3000}")
    found.call("wiki", "search", {"query": f"why {key}"})
    noted = (tmp_path / "notes").read_text()
    assert "ghp_" not in noted and noted.count("[redacted:github-token]") == 2
    assert len(noted) < 2000


def test_a_provider_gets_a_minimal_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.setenv(name, "mine")
    [result] = ask(meet(tmp_path, "environment"))
    given = json.loads(result.text.removeprefix("retries: "))
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "CLAUDE_CODE_SESSION_ID"} & given.keys()
    assert given["PATH"] == os.environ["PATH"] and given["HOLDFAST_PROVIDERS"] == "off"


def test_the_error_output_of_a_provider_is_not_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(ask(meet(tmp_path, "complains"))) == 1
    assert "COMPLAINT" not in "".join(capfd.readouterr())


def test_a_missing_program_is_reported_in_a_sentence(tmp_path: Path) -> None:
    plugin = make_plugin(tmp_path / "wiki", {"command": "no-such-program-at-all"})
    found = providers_for(tmp_path, plugin)
    with pytest.raises(ProviderError, match="its program was not found"):
        found.ask(found.named("wiki"), "retries")
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    found = providers_for(tmp_path, make_plugin(tmp_path / "wiki", {"command": str(broken)}))
    with pytest.raises(ProviderError, match="its program cannot be started"):
        found.ask(found.named("wiki"), "retries")
