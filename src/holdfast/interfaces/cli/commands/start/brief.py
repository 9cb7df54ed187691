"""`holdfast brief`."""

from __future__ import annotations

from holdfast.app.briefs.injected_texts import read_injected
from holdfast.app.memory import open_memory
from holdfast.app.status.usage_report import count_tokens
from holdfast.capture.home_paths import HomePaths
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, minute, number
from holdfast.interfaces.cli.setup_summary import REVIEW_HINT
from holdfast.language import truncate
from holdfast.model.ledgers.injections import Injection
from holdfast.settings import load_settings

HELP = """\
Show the context that the next session gets: the brief at its start or, with --prompt, what
would be added to this first prompt. --session shows what was injected into a session.
--log lists what was injected so far, whether it arrived, and how it was used: cited, file
(one of its files was touched), wording (its words were used), contradicted, ignored. That
is judged once a session has been quiet for two hours.

A brief contains only dated evidence from this memory. The table [brief] of config.toml
turns each kind of brief off.

--json prints {"id", "text", "records"}, with --log a list of injections, and with --session
{"session", "injected": [{"kind", "time", "text"}]}."""

EXAMPLES = """\
  holdfast brief
  holdfast brief --prompt "people are logged out every afternoon, make it last longer"
  holdfast brief --session latest
  holdfast brief --log --bank all"""


def configure(parser: Parser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--prompt", metavar="TEXT", default="", help="the brief for this prompt")
    which.add_argument(
        "--log", action="store_true", help="what was injected so far, and how it was used"
    )
    which.add_argument(
        "--session",
        metavar="ID",
        default="",
        help="what was injected into this session, up to 30 days ago; `latest`, or `current` for "
        "the session that this command runs in",
    )
    options.add_limit(parser, 20, "how many entries of the log (default: {default})")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.session:
        _print_injected(screen, arguments.session, arguments.json)
        return
    with open_memory(create=False) as memory:
        if arguments.log:
            _print_log(
                screen, memory.inventory.injections(arguments.bank, arguments.limit), arguments.json
            )
            return
        if arguments.prompt:
            brief = memory.briefs.goal_brief(arguments.prompt, arguments.bank)
        else:
            brief = memory.briefs.session_brief(arguments.bank)
        id = memory.context.bank_id(arguments.bank)
        judged = id is not None and bool(memory.reader.curation.judgements(id))
        hint = memory.context.missing_bank_hint(id)
    if arguments.json:
        screen.json({"id": brief.id, "text": brief.text, "records": brief.records})
    elif brief.text:
        _print_text(screen, brief.text)
        if not judged and not arguments.prompt:
            screen.wrap(REVIEW_HINT)
    else:
        what = "nothing is relevant to this prompt" if arguments.prompt else "nothing to inject yet"
        screen.wrap(f"The brief is empty: {what}. {hint}".strip())


def _print_text(screen: Screen, text: str) -> None:
    """A brief and its size."""
    screen.line(text)
    tokens = number(count_tokens(len(text)), "token")
    screen.line(f"{len(text):,} characters, about {tokens}", "dim")


def _print_injected(screen: Screen, session: str, as_json: bool) -> None:
    found = read_injected(HomePaths(load_settings().home), session)
    if as_json:
        return screen.json(found)
    if not found.injected:
        screen.line(f"Nothing was injected into session {found.session}.")
    for one in found.injected:
        screen.line(f"{one.kind}, {minute(one.time)} UTC:", "bold")
        _print_text(screen, one.text)


def _print_log(screen: Screen, injections: list[Injection], as_json: bool) -> None:
    if as_json:
        return screen.json(injections)
    if not injections:
        screen.line("Nothing was injected yet.")
        return
    for one in injections:
        head = f"{minute(one.time)} {one.kind.value:<6} {one.session[:8]}"
        outcome = f"{'arrived' if one.arrived else 'did not arrive'}, {one.use.value}"
        outcome = "not judged yet" if one.arrived is None else outcome
        screen.line(f"{head} {one.characters:>5} characters: {outcome}")
        if one.because:
            screen.line(f"    {truncate(one.because, 120)}", "dim")
