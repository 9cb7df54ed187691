from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.goal.entries import Entry, entry_lines
from holdfast.brief.goal.first_prompt import PromptSimilarity
from holdfast.brief.goal.related_exchanges import Outdated, RelatedExchange, related_exchanges
from holdfast.brief.memory_file import MemoryFile
from holdfast.brief.work_items import DecisionQuote, WorkItem
from holdfast.language import sentences
from holdfast.model.curation import Verdict
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.query.terms import read_terms
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

NOW = "2026-06-01T10:00:00Z"
pytestmark = pytest.mark.model


def write(
    folder: Path, number: int, day: int, asked: str, answered: str, announced: str = ""
) -> None:
    start = datetime(2026, 5, day, 9, tzinfo=UTC)
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", "/home/dev/depot", start=start)
    script.user(asked)
    if announced:
        script.assistant(announced)
    script.tool("Edit", "updated", file_path=f"/home/dev/depot/part{number}.py", old_string="a")
    script.assistant(answered)
    script.write(folder / "p")


@contextmanager
def read_sessions(folder: Path) -> Generator[Holdfast]:
    """A memory of the sessions that were written to a folder, with vectors."""
    settings = Settings(home=folder / "home", claude_dir=folder)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        memory.ingestion.embed()
        yield memory


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("depot")
    write(
        folder,
        1,
        4,
        "The label printer prints every parcel label twice since the update",
        "Root cause: the label printer driver retries a print job after 2 seconds, and the print "
        "server acknowledges a parcel label only after 3 seconds, so each label is printed twice. "
        "Fixed by raising the acknowledgement timeout of the printer driver to 10 seconds.",
    )
    write(
        folder,
        2,
        6,
        "Show the weight of a pallet on the dashboard",
        "The dashboard shows the weight of each pallet in kilograms. The value is read from the "
        "scale service every minute and kept in a cache.",
    )
    write(
        folder,
        3,
        8,
        "Assess whether the forklift driver may move the red barrels with acid to gate seven",
        '{"risk": "low", "rationale": "The forklift driver may move red barrels with acid."}',
    )
    write(
        folder,
        4,
        9,
        "The conveyor belt in the sorting hall stops whenever it rains",
        "Put a cover over the light barrier. Rain drops on the light barrier were taken for "
        "parcels that got stuck, which halts the motor for ten minutes.",
        announced="Let me find out why the conveyor belt in the sorting hall stops when it rains. "
        "I'll read the conveyor belt settings of the sorting hall first. Now let's look at rain:",
    )
    write(
        folder,
        5,
        11,
        "The chargers of the forklift trucks trip the fuse at noon. We decided: never charge "
        "forklift trucks between eleven and two, because the transformer of hall four is at its "
        "limit then.",
        "The charging plan leaves out these three hours, and the transformer of hall four stays "
        "below eighty degrees at noon.",
    )
    with read_sessions(folder) as memory:
        yield memory


def test_how_an_exchange_ended_is_told_not_what_was_announced(depot: Holdfast) -> None:
    prompt = "In wet weather the conveyor belt of the sorting hall halts again"
    text = depot.briefs.goal_brief(prompt, "depot").text
    assert "taken for parcels that got stuck" in text
    assert "find out why" not in text
    assert "settings of the sorting hall" not in text
    assert "look at rain" not in text


def test_a_cause_is_told_to_a_prompt_in_other_words(depot: Holdfast) -> None:
    prompt = "Each sticker for a parcel comes out of the printer two times again"
    brief = depot.briefs.goal_brief(prompt, "depot")
    assert "acknowledges a parcel label only after 3 seconds" in brief.text
    assert "pallet" not in brief.text
    assert any(record.startswith("holdfast://memory/") for record in brief.records)


def test_what_was_decided_in_an_exchange_stands_with_what_it_came_to(depot: Holdfast) -> None:
    goal = "Charge the forklift trucks at noon too: their chargers are free then"
    brief = depot.briefs.goal_brief(goal, "depot")
    entries = [line for line in brief.text.split("\n") if line.startswith("- ")]
    assert len(entries) == 1 and brief.text.count("trip the fuse at noon") == 1, brief.text
    assert "never charge forklift trucks between eleven and two" in brief.text
    assert "  agent: “The charging plan leaves out these three hours" in brief.text


def test_a_decision_is_told_with_how_its_exchange_ended(tmp_path: Path) -> None:
    asked = "We decided to lash deck cargo with chains only, never with ropes, from quay nine on."
    answered = "The lashing plan names chains for each of the nineteen bays and no ropes any more."
    write(tmp_path, 1, 4, asked, answered)
    write(tmp_path, 2, 5, "Count the pallets", "The forty pallets in hall two are counted.")
    with read_sessions(tmp_path) as memory:
        goal = "Fasten freight on the ship with ropes"  # too few words to find it by meaning alone
        text = memory.briefs.goal_brief(goal, "depot").text
    assert text.count("nineteen bays") == 1 and "never with ropes" in text, text


def test_a_statement_that_was_called_outdated_takes_no_decision_with_it(depot: Holdfast) -> None:
    goal = "Charge the forklift trucks at noon too: their chargers are free then"
    bank = depot.reader.banks.all()[0].id
    known = depot.reader.memories.retained(bank, limit=100)
    (stated,) = [uri("memory", one.id) for one in known if "charging plan leaves" in one.what]
    assert stated in depot.briefs.goal_brief(goal, "depot").records
    depot.curation.judge([stated], Verdict.OUTDATED)
    try:
        text = depot.briefs.goal_brief(goal, "depot").text
        assert "charge forklift trucks between eleven and two" in text
        assert "charging plan leaves out" not in text
    finally:
        depot.undo()


def test_of_a_decision_and_what_came_of_it_each_sentence_stands_once(tmp_path: Path) -> None:
    asked = "The conveyor belt in the sorting hall stops whenever it rains"
    cause = "Root cause: the light barrier of the conveyor belt takes rain drops for stuck parcels."
    rule = "From now on always put a cover over light barriers outside."
    write(tmp_path, 1, 4, asked, f"{cause} Fixed by putting a cover over the light barrier. {rule}")
    write(tmp_path, 2, 5, "Count the pallets", "The forty pallets in hall two are counted.")
    with read_sessions(tmp_path) as memory:
        goal = "The conveyor belt of the sorting hall halts in wet weather"
        text = memory.briefs.goal_brief(goal, "depot").text
    assert text.count(cause) == 1 and text.count(rule) == 1, text


BELT = "The belt in the sorting hall stops in rain because its motor gets wet."


@pytest.mark.parametrize(
    ("corrected", "told"),
    [
        (BELT, [f"ann, correcting this on 2026-06-01: “{BELT}”"]),
        (
            f"{BELT}\nFrom now on always put a cover over the motor. The drops did no harm.",
            [f"“{BELT}”", "ann, correcting this on 2026-06-01: “", "put a cover", "did no harm"],
        ),
        (
            f"{BELT[:-1]}\nWrong: it was the light. The belt stops. From now on always cover it.",
            [f"“{BELT[:-1]}”", "it was the light", "The belt stops.", "always cover it"],
        ),
        (
            f"{BELT} " + "The hall has been wet since May. " * 400,
            [BELT, "ann, correcting this on 2026-06-01: “", "wet since May"],
        ),
    ],
)
def test_an_exchange_that_a_person_corrected_is_told_in_their_words(
    tmp_path: Path, corrected: str, told: list[str]
) -> None:
    asked = "The conveyor belt in the sorting hall stops whenever it rains"
    answered = "Put a cover over the light barrier, which had taken rain drops for stuck parcels."
    write(tmp_path, 1, 4, asked, answered)
    write(tmp_path, 2, 5, "Count the pallets", "The forty pallets in hall two are counted.")
    with read_sessions(tmp_path) as memory:
        goal = "The conveyor belt of the sorting hall halts in wet weather"
        assert "cover over the light barrier" in memory.briefs.goal_brief(goal, "depot").text
        sessions = memory.reader.sessions
        bank = memory.reader.banks.all()[0].id
        found = [x for s in sessions.latest(None) for x in sessions.exchanges(bank, s.id)]
        (about,) = [one for one in found if "conveyor" in one.title]
        memory.correct(about.id, corrected, who="ann")
        text = memory.briefs.goal_brief(goal, "depot").text
    assert "light barrier" not in text and "user:" not in text, text
    assert [words for words in told if words not in text] == [], text
    repeated = [one for one in sentences(corrected)[:3] if text.count(one) > 1]
    assert (repeated == [] or "since May" in repeated[-1]) and len(text) < 2_000, text


def test_a_statement_in_the_words_of_the_title_is_no_correction(tmp_path: Path) -> None:
    asked = "We never run the conveyor belt in the sorting hall at night: the neighbours complain"
    write(tmp_path, 1, 4, asked, "The belt's plan leaves out the hours from ten to six.")
    write(tmp_path, 2, 5, "Count the pallets", "The forty pallets in hall two are counted.")
    with read_sessions(tmp_path) as memory:
        text = memory.briefs.goal_brief("Run the conveyor belt of the hall at night", "depot").text
    assert "neighbours complain" in text and "correct" not in text.partition("\n- ")[2], text


@pytest.mark.parametrize(
    ("title", "repeats"),
    [("Use ropes for the deck cargo", True), ("Do not use ropes for the deck cargo", False)],
)
def test_a_decision_is_left_out_only_where_its_whole_sentence_stands(
    title: str, repeats: bool
) -> None:
    said = "Use ropes for the deck cargo."
    decision = DecisionQuote(said, "agent", NOW, "holdfast://turn/1", 2.0, False, (0, 0))
    item = WorkItem("exchange", "1", NOW, title, Trust.USER, lambda: (decision,))
    lines = entry_lines(Entry(item, (decision,), None), MemoryFile([]))
    assert (f"  agent: “{said}”" in lines) is not repeats


def test_items_of_a_list_are_told_with_a_mark_between_them(tmp_path: Path) -> None:
    asked = "What does the bilge pump of the harbour tug report to the bridge?"
    items = "- Water level of the bilge in centimetres\n- Hours of the pump motor\n- Its last fault"
    write(tmp_path, 1, 4, asked, f"The bilge pump tells the bridge three things.\n\n{items}")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        goal = "Report the temperature of the bilge pump of the harbour tug to the bridge"
        (found,) = related(memory, 0.6, 0.3, goal, "bilge")
        text = " ".join(one.text for one in found.statements)
    assert "Water level of the bilge in centimetres; Hours of the pump motor" in text, text


def test_a_prompt_about_something_else_is_told_nothing(depot: Holdfast) -> None:
    prompt = "Add a login page with two factor authentication for the customers"
    assert depot.briefs.goal_brief(prompt, "depot").text == ""


def test_what_a_program_asked_an_agent_for_is_not_told(depot: Holdfast) -> None:
    prompt = "May the forklift driver move the red barrels with acid to another gate?"
    assert "rationale" not in depot.briefs.goal_brief(prompt, "depot").text


CAUSES = {
    "nightly backups": "a full disk stopped the nightly backups of the bakery suite",
    "oven chart": "the oven chart of the bakery suite read Fahrenheit values as Celsius",
    "customer orders": "customer orders in the bakery suite were sorted as text",
    "flour warning": "the flour warning of the bakery suite compared kilograms with grams",
    "van routes": "the van routes of the bakery suite ignored one-way streets",
    "cake barcodes": "cake barcodes of the bakery suite lost their leading zero",
    "staff shifts": "staff shifts on Sundays were counted twice in the bakery suite",
    "receipt fonts": "the receipt fonts of the bakery suite had no euro sign",
    "recipe search": "the recipe search of the bakery suite skipped umlauts",
}


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    """A project whose every session speaks of the project itself."""
    folder = tmp_path_factory.mktemp("bakery")
    for number, (subject, cause) in enumerate(CAUSES.items()):
        asked = f"Why does the bakery suite have trouble with {subject}?"
        write(folder, number + 1, number + 2, asked, f"Root cause: {cause}. Fixed and tested.")
    settings = Settings(home=folder / "home", claude_dir=folder)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        yield memory


GOAL = "With the bakery suite our drivers lost their way in the old town and arrived late"


def told(
    memory: Holdfast, near: float, others: float, goal: str = GOAL, has_most_words: int = 800
) -> list[str]:
    """What is told of the bakery where the session about vans has one cosine and the others have
    another."""
    found = related(memory, near, others, goal, "van routes", has_most_words)
    return [statement.text for one in found for statement in one.statements]


def related(
    memory: Holdfast,
    near: float,
    others: float,
    goal: str,
    about: str,
    has_most_words: int = 800,
) -> list[RelatedExchange]:
    """The exchanges that are told where the sessions with some words have one cosine and the others
    have another."""
    reader = memory.reader
    bank = reader.banks.all()[0].id
    passages = [
        passage
        for session in reader.sessions.latest(bank)
        for passage in reader.passages.of_turns(bank, [(session.id, seq) for seq in range(9)])
        if passage.role != "tool"
    ]
    nearer = {passage.session for passage in passages if about in passage.body}
    scored = [ScoredPassage(p, near if p.session in nearer else others) for p in passages]
    for record in reader.memories.retained(bank, limit=100):
        for passage in reader.passages.of_records(bank, "memory", [record.id]):
            cosine = near if passage.session in nearer else others
            scored.append(ScoredPassage(passage, cosine))
    prompt = PromptSimilarity(reader, bank, read_terms(goal), has_most_words)
    nearest = sorted(scored, key=lambda one: -one.score)
    return related_exchanges(reader, bank, prompt, nearest, lambda: Outdated(reader, bank, [], []))


def test_a_session_is_told_if_it_is_nearer_than_the_others(bakery: Holdfast) -> None:
    assert any("ignored one-way streets" in text for text in told(bakery, 0.6, 0.45))


def test_nothing_is_told_to_a_prompt_that_is_near_to_all_sessions(bakery: Holdfast) -> None:
    assert not told(bakery, 0.6, 0.55)


def test_a_message_that_repeats_a_statement_is_not_told_too(bakery: Holdfast) -> None:
    texts = told(bakery, 0.6, 0.45)
    assert sum("ignored one-way streets" in text for text in texts) == 1


def test_a_prompt_in_words_that_the_memory_never_saw_needs_more(bakery: Holdfast) -> None:
    known = "Van routes of the bakery suite against one-way streets"
    new = "With the bakery suite our kayaks lost sonar, rudder and ballast"
    assert told(bakery, 0.6, 0.45, new)  # the memory is too small to say what is new to it
    assert told(bakery, 0.6, 0.45, known, has_most_words=10)
    assert not told(bakery, 0.6, 0.45, new, has_most_words=10)


CRANE = (
    "The crane dropped its hook because the brake of its drum was released by a low voltage. "
    "The controller of the crane now holds the brake below 380 volts. "
    + "".join(f"I looked whether {cause}. " for cause in CAUSES.values())
    + "The spare drum of the crane lies in shed nine, and its brake is not mended yet. "
    "All checks of the spare drum and of the crane passed. "
    "Shall I order a new brake for the spare drum of the crane?"
)


def test_of_a_long_last_message_the_beginning_and_the_end_are_told(tmp_path: Path) -> None:
    write(tmp_path, 1, 4, "Why did the harbour crane drop its hook on the quay?", CRANE)
    write(tmp_path, 2, 5, "Count the pallets", "The forty pallets in hall two are counted.")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        goal = "The hook of the harbour crane fell on the quay: look at the brake of its drum"
        (found,) = related(memory, 0.6, 0.3, goal, "crane")
        told = " ".join(one.text for one in found.statements)
    assert "released by a low voltage" in told and "below 380 volts" in told
    assert "lies in shed nine" in told
    assert not all(cause in told for cause in CAUSES.values())
    assert "Shall I order" not in told


COMMAND = "Check the staging server logs, update architecture.md, and commit the changed documents"
HANDLES = (
    ("Add a username column to the users table", "The users table has a username column now."),
    ("Log failed attempts to sign in", "Failed attempts to sign in are counted per address."),
    (COMMAND, "The document names the username column of the users table."),
    ("Remove the username column from the users table", "The users table is as before: email."),
    ("Slow down repeated attempts to sign in", "Repeated attempts to sign in wait a minute."),
    (COMMAND, "The document says that the users table has an email for each login."),
    ("Name the address in the mail after a failed sign-in", "The mail names the address."),
    (COMMAND, "The document tells of the mail after failed attempts of users to sign in."),
)


@pytest.fixture(scope="module")
def handles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    """One session about two matters, with a saved command between them."""
    folder = tmp_path_factory.mktemp("handles")
    script = Script("00000001-0000-4000-8000-000000000001", "/home/dev/handles")
    for asked, answered in HANDLES:
        script.user(asked)
        script.assistant(answered)
    script.write(folder / "p")
    settings = Settings(home=folder / "home", claude_dir=folder)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        yield memory


def titles_of(memory: Holdfast, goal: str, cosines: dict[str, float]) -> list[str]:
    """The titles of the exchanges that are told where the answers with these words are near."""
    reader = memory.reader
    bank = reader.banks.all()[0].id
    (session,) = reader.sessions.latest(bank)
    turns = reader.passages.of_turns(bank, [(session.id, seq) for seq in range(50)])
    near = [
        ScoredPassage(turn, cosine)
        for words, cosine in cosines.items()
        for turn in turns
        if words in turn.body and turn.role == "assistant"
    ]
    prompt = PromptSimilarity(reader, bank, read_terms(goal))
    found = related_exchanges(reader, bank, prompt, near, lambda: Outdated(reader, bank, [], []))
    return [one.title for one in found]


def test_what_was_taken_back_later_in_the_session_is_told_with_it(handles: Holdfast) -> None:
    goal = "Put a column for a username into the table, so that people sign in with it"
    told = titles_of(handles, goal, {"has a username column now": 0.6})
    assert told == [HANDLES[0][0], HANDLES[3][0]]
    both = {"has a username column now": 0.6, HANDLES[3][1][:24]: 0.58}
    assert titles_of(handles, goal, both) == told


def test_of_a_session_the_nearest_and_the_latest_are_told(handles: Holdfast) -> None:
    goal = "Count failed attempts to sign in and tell people their address"
    near = {"counted per address": 0.6, "wait a minute": 0.58, "The mail names": 0.5, "now": 0.1}
    assert titles_of(handles, goal, near) == [HANDLES[1][0], HANDLES[6][0]]
    far = near | {"The mail names": 0.25}
    assert titles_of(handles, goal, far) == [HANDLES[1][0], HANDLES[4][0]]


def test_what_a_saved_command_brought_is_not_told(handles: Holdfast) -> None:
    goal = "Which document names the username column of the users table?"
    assert not titles_of(handles, goal, {"The document": 0.6})


@pytest.mark.slow
def test_a_prompt_mostly_in_words_that_the_memory_never_saw_is_told_nothing(tmp_path: Path) -> None:
    script = Script("00000001-0000-4000-8000-000000000001", "/home/dev/depot")
    script.user("Never print parcel labels on plain paper: the label printer takes thermal paper.")
    script.assistant("Understood, the label printer takes thermal paper only.")
    for number in range(400):
        script.user(f"Count the crates of row {number}.")
        script.assistant(f"Row {number} has {number % 7} crates.")
    script.write(tmp_path / "p")
    prompt = "Print the parcel labels on plain paper with the label printer"
    new = f"{prompt}: kayak, sonar, rudder, ballast, flute, cello, viola, oboe, tuba, harp, lute"
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        assert "thermal paper" in memory.briefs.goal_brief(prompt, "depot").text
        assert memory.briefs.goal_brief(new, "depot").text == ""
