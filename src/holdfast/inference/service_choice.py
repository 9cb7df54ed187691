"""The model service that the settings select; by default none."""

from __future__ import annotations

from importlib.util import find_spec
from typing import cast

from holdfast.errors import SettingsError
from holdfast.inference.chat import Chat
from holdfast.settings import NO_MODEL, ModelSettings

OPERATIONS = ("summaries", "extraction", "reflection", "agent")
# Cheap models that are good enough; with a subscription, reflection uses the model that the user
# usually has.
_DEFAULT_MODELS: dict[str, dict[str, str]] = {
    "anthropic": dict.fromkeys(OPERATIONS, "claude-haiku-5-5"),
    "claude": dict.fromkeys(("summaries", "extraction", "agent"), "haiku"),
}
_EXTRAS = {"claude": ("claude", "claude_agent_sdk"), "http": ("models", "httpx2")}


def detect_service(models: ModelSettings) -> str:
    """The service that would be asked: the one in the settings, or for "auto" the first
    available of the Claude subscription, Anthropic's API and an OpenAI-compatible endpoint."""
    if models.use != "auto":
        return models.use
    if find_spec(_EXTRAS["claude"][1]) is not None:
        return "claude"
    if find_spec(_EXTRAS["http"][1]) is None:
        return NO_MODEL
    if models.anthropic_key and not models.endpoint:
        return "anthropic"
    return "openai" if models.openai_key or models.endpoint else NO_MODEL


def default_model(service: str, operation: str) -> str:
    """The model of a service that is asked if the settings name none; "" if that is its own
    choice."""
    return _DEFAULT_MODELS.get(service, {}).get(operation, "")


def service_problem(models: ModelSettings, operation: str = "summaries") -> SettingsError | None:
    """Why the service of the settings cannot be asked; None if it can, or if they name none. Only
    what is known without asking it: packages, keys and names."""
    if models.use == NO_MODEL or str(getattr(models, operation)) == NO_MODEL:
        return None
    service = detect_service(models)
    if service == NO_MODEL:
        return SettingsError(
            "No model service can be used: the package for a Claude subscription is not "
            "installed, and no API key is set.",
            f"pip install 'holdfast-memory[{_EXTRAS['claude'][0]}]'",
        )
    try:
        _check_service(models, operation, service)
    except SettingsError as error:
        return error
    return None


def _check_service(models: ModelSettings, operation: str, service: str) -> None:
    """Raise SettingsError if a service lacks a package, a key or the name of a model."""
    if service == "claude":
        _require_extra(service, "claude")
        return
    _require_extra(service, "http")
    _api_key(models, service)
    if not (str(getattr(models, operation)) or default_model(service, operation)):
        raise SettingsError(
            f"models.{operation} does not say which model to ask for.",
            f"Set it to a model of {models.endpoint or 'OpenAI'}, e.g. qwen3.",
        )


def choose_chat(models: ModelSettings, operation: str) -> Chat | None:
    """The service for an operation; None if the settings disable it."""
    service, named = detect_service(models), str(getattr(models, operation))
    if NO_MODEL in (service, named):
        return None
    _check_service(models, operation, service)
    model = named or default_model(service, operation)
    if service == "claude":
        from holdfast.inference import agent_chat

        return cast(Chat, agent_chat.AgentChat(model, models.timeout_s))
    key = _api_key(models, service)
    from holdfast.inference import http_chat

    if service == "anthropic":
        url = models.endpoint or http_chat.ANTHROPIC_URL
        return cast(Chat, http_chat.MessagesChat(model, key, url, models.timeout_s))
    url = models.endpoint or http_chat.OPENAI_URL
    return cast(Chat, http_chat.CompletionsChat(model, key, url, models.timeout_s))


def _require_extra(service: str, which: str) -> None:
    extra, module = _EXTRAS[which]
    if find_spec(module) is None:
        raise SettingsError(
            f"models.use is {service!r}, but what it needs is not installed.",
            f"pip install 'holdfast-memory[{extra}]'",
        )


def _api_key(models: ModelSettings, service: str) -> str:
    """The key for a service. A key from a maker's own variable is sent only to that maker."""
    if models.api_key_env:
        if not models.api_key:
            raise SettingsError(
                f"The variable {models.api_key_env}, named by models.api_key_env, is not set.",
                "Set it to the key of the model service, or remove models.api_key_env.",
            )
        return models.api_key
    key = {"anthropic": models.anthropic_key, "openai": models.openai_key}[service]
    if models.endpoint:
        return ""
    if not key:
        raise SettingsError(
            f"There is no key for {service}.",
            "Set models.api_key_env to the name of the variable that holds it.",
        )
    return key
