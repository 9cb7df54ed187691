"""The screen of `holdfast setup` on which a model service can be chosen; by default none is."""

from __future__ import annotations

from dataclasses import replace

from holdfast.app.core.model_optin import choose_service
from holdfast.inference.service_choice import detect_service, service_problem
from holdfast.interfaces.cli import confirm
from holdfast.operations.output.install_hint import adapt_install_commands, install_command
from holdfast.operations.screen import Screen
from holdfast.settings import NO_MODEL, ModelSettings, Settings, load_settings

_AUTO = "auto"
_EXTRA = "claude"
_RECIPIENTS = {
    "claude": "Anthropic, through Claude Code and the subscription it is logged in with",
    "anthropic": "Anthropic's API, with the key in ANTHROPIC_API_KEY",
    "openai": "OpenAI's API, with the key in OPENAI_API_KEY",
    NO_MODEL: "Anthropic, through Claude Code, once the package for it is installed",
}


def offer_model(screen: Screen, settings: Settings, yes: bool) -> None:
    """Say what a model would do, and ask at a terminal; does nothing where one was chosen."""
    if settings.models.use != NO_MODEL or yes or not confirm.is_interactive():
        return
    print_offer(screen, replace(settings.models, use=_AUTO))
    if not confirm.ask("Let a model summarise sessions?", default=False):
        screen.line("No model is used. `holdfast setup --models auto` chooses one later.")
        return
    choose_service(settings.home, _AUTO)
    warn_about_model(screen)


def print_offer(screen: Screen, models: ModelSettings) -> None:
    """Print what would be sent, to whom, and the limits."""
    caps, problem = models.caps, service_problem(models)
    screen.title("Optional: a model that writes better titles and summaries", "bold")
    lines = {
        "what is sent": f"what you and the agent said in sessions of the last {models.days} days "
        "and from now on, without secrets and without what tools fetched from outside",
        "sent to": models.endpoint or _RECIPIENTS[detect_service(models)],
        "limits": f"{caps.day_tokens:,} tokens and ${caps.day_usd:.2f} a day, "
        f"{caps.session_tokens:,} tokens and ${caps.session_usd:.2f} a session; "
        "`holdfast status --cost` lists every call",
    }
    for name, text in lines.items():
        screen.wrap(text, f"  {name:<13}", " " * 15)
    if problem:
        screen.wrap(f"It is not available yet. {problem.message}", "  ")
        screen.line("To use your Claude subscription, install the package for it:")
        screen.line(f"  → {install_command(_EXTRA)}")


def warn_about_model(screen: Screen) -> bool:
    """Say why the chosen model service cannot be asked, and what to do; True if so."""
    problem = service_problem(load_settings().models)
    if problem is None:
        return False
    screen.note(f"The model service does not work yet. {problem.message}")
    screen.wrap(f"→ {adapt_install_commands(problem.remedy)}", "      ", "        ")
    return True
