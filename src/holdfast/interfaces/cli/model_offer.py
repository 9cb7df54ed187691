"""The screen of `holdfast setup` on which a model service can be chosen; by default none is."""

from __future__ import annotations

from holdfast.app.core.model_optin import choose_service
from holdfast.app.memory import open_memory
from holdfast.app.status.model_offer import AUTO, ModelOffer, gather_offer, title_by_model
from holdfast.inference.service_choice import service_problem
from holdfast.interfaces.cli import confirm
from holdfast.operations.output.install_hint import adapt_install_commands, install_command
from holdfast.operations.screen import Screen
from holdfast.settings import NO_MODEL, Settings, load_settings

_EXTRA = "claude"


def offer_model(screen: Screen, settings: Settings, yes: bool) -> None:
    """Say what a model would do, and ask at a terminal; does nothing where one was chosen."""
    if settings.models.use != NO_MODEL or yes or not confirm.is_interactive():
        return
    with open_memory(settings, create=False) as memory:
        offer = gather_offer(memory)
    if offer is None:
        return
    print_offer(screen, offer)
    if not confirm.ask("Let a model summarise sessions?", default=False):
        screen.line("No model is used. `holdfast setup --models auto` chooses one later.")
        return
    choose_service(settings.home, AUTO)
    if warn_about_model(screen):
        return
    with open_memory(load_settings()) as memory:
        title, problem = title_by_model(memory, offer)
    print_title_by_model(screen, offer, title, problem)


def print_offer(screen: Screen, offer: ModelOffer) -> None:
    """Print what is sent, to whom, the caps, the cost, and a title without a model."""
    caps = offer.caps
    cost = f"about {offer.tokens:,} tokens"
    if offer.usd is not None:
        paid = (
            " at API prices; with a subscription it counts towards its limits"
            if offer.service == "claude"
            else ""
        )
        cost += f", ${offer.usd:.4f} with {offer.model} ({offer.prices_as_of}{paid})"
    title = "Optional: a model that writes better titles and summaries"
    screen.title(title, "bold")
    lines = {
        "what is sent": f"what you and the agent said in sessions of the last {offer.days} days "
        "and from now on, without secrets and without what tools fetched from outside",
        "sent to": offer.recipient,
        "limits": f"{caps.day_tokens:,} tokens and ${caps.day_usd:.2f} a day, "
        f"{caps.session_tokens:,} tokens and ${caps.session_usd:.2f} a session; "
        "`holdfast status --cost` lists every call",
        "per session": f"{cost}, estimated from your latest {offer.sessions}; ",
        "title now": f"“{offer.title}”",
        "with a model": "shown if you say yes, after one session was sent"
        if not offer.problem
        else f"not available yet. {offer.problem}",
    }
    for name, text in lines.items():
        screen.wrap(text, f"  {name:<13}", " " * 15)
    if offer.problem:
        screen.line("To use your Claude subscription, install the package for it:")
        screen.line(f"  → {install_command(_EXTRA)}")


def print_title_by_model(screen: Screen, offer: ModelOffer, title: str, problem: str) -> None:
    """Print the title that a model gave, beside that of before."""
    if problem:
        screen.wrap(f"The model did not answer: {problem}. The title stays as it was.")
        screen.line("`holdfast status` shows whether it works later; `--models none` turns it off.")
        return
    screen.wrap(f"“{offer.title}”", "  before:  ", " " * 11)
    screen.wrap(f"“{title}”", "  after:   ", " " * 11)
    if title == offer.title:
        screen.line("  The model's title did not match the session better; the old one is kept.")


def warn_about_model(screen: Screen) -> bool:
    """Say why the chosen model service cannot be asked, and what to do; True if so."""
    problem = service_problem(load_settings().models)
    if problem is None:
        return False
    screen.note(f"The model service does not work yet. {problem.message}")
    screen.wrap(f"→ {adapt_install_commands(problem.remedy)}", "      ", "        ")
    return True
