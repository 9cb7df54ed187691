"""`holdfast learn`."""

from __future__ import annotations

from holdfast.app.curation.rule_proposals import SCOPES
from holdfast.app.curation.rule_teaching import learn_result_json
from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen

HELP = """\
Add a rule to .claude/rules/DOMAIN.md of the project, or of the user. The diff is shown first;
the rest of the file does not change. A rule that a rule file already states, even in
other words, is not added."""

EXAMPLES = """\
  holdfast learn testing "Use the fixtures in tests/conftest.py; never mock the store."
  holdfast learn api "Endpoints page by cursor." --paths "src/api/**"
  holdfast learn style "Answer in plain English." --scope user --yes"""


def configure(parser: Parser) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="the subject; also the name of the file")
    parser.add_argument("text", nargs="+", metavar="TEXT", help="the rule")
    parser.choice(
        "--scope", SCOPES, "for this project (default) or for all your projects", "project"
    )
    parser.repeated(
        "--paths",
        "if the rule file is new: the files it applies to; repeatable",
        metavar="GLOB",
    )
    options.add(parser, "one_bank", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    text = options.words(arguments.text, "rule", "Say what it demands, in a sentence.")
    a = arguments
    with open_memory() as memory:
        learned = memory.teaching.plan_learn(a.domain, text, a.scope, a.paths, a.bank)
        change = learned.change
        written = False
        if change is not None:
            if not a.json:
                screen.line(change.diff)
                if learned.opposes:
                    screen.line(f"Note: {learned.opposes} says the opposite.")
            written = confirm.is_allowed(a.yes, f"Write {change.path}?", dry_run=False)
            if written:
                memory.teaching.write_rule(change, a.bank)
    if a.json:
        screen.json(learn_result_json(learned, written))
    elif change is None:
        screen.line(f"{learned.documented} says so already. Nothing was changed.")
    else:
        screen.line(f"Written: {change.file}" if written else "Nothing was changed.")
