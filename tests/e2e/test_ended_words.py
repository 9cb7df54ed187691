"""After any decisions, no way in states words that ended as if they held."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.language import sentences
from holdfast.model.curation import Verdict
from holdfast.model.knowledge import Concept, Fact, ReviewState
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core.passages import concept_passage
from holdfast.settings import Settings
from holdfast.store.knowledge.concepts import DerivedConcept
from holdfast.times import format_time
from tests.support.laws import costly
from tests.support.prepared_home import PreparedHome
from tests.support.transcripts import Script
from tests.support.ways_in import Way, all_ways, export_ways


class Topic(NamedTuple):
    """Something that a project decides, with one word that changes."""

    stated: str
    echo: str
    commit: str
    amended: str
    disputed: str
    about: str
    file: str
    question: str
    prompt: str


DEPLOY = Topic(
    "From now on we always deploy with {new} from the release branch, never by hand.",
    "Done, we deploy with {new} now.",
    "Deploy with {new}",
    "We changed our mind: from now on we deploy with {new} from the release branch.",
    "Outdated is the rule about deploying with {old} from the release branch, it is wrong.",
    "the release branch",
    "src/deploy.py",
    "How do we deploy from the release branch?",
    "Make the deploy script work from the release branch again, nobody should deploy by hand",
)
UPLOAD = Topic(
    "We decided that uploads always go through {new} in the media service.",
    "Done, uploads go through {new} now.",
    "Put uploads through {new}",
    "We changed our mind: uploads go through {new} in the media service from now on.",
    "Outdated is the rule about uploads through {old} in the media service, it is wrong.",
    "the media service",
    "src/upload.py",
    "What do uploads go through in the media service?",
    "Uploads in the media service are slow, look at what they go through and speed it up",
)
TOPICS = (DEPLOY, UPLOAD)
NAMES = (
    "fluxor", "argonaut", "spinnaker", "tektite", "jenkinson", "harnisch", "marlin", "quokka",
    "zeppelin", "wombat", "narwhal", "pelican", "octavia", "lorikeet",
)  # fmt: skip
# Words by which a text says that something in it is history.
MARKS = (
    "no longer valid", "superseded", "taken back", "retracted", "a record was", "replaces",
    "outdated is",
)  # fmt: skip
# What shows the past as such: the words before a decision, the decision itself, the question.
HISTORY = {"superseded", "history", "query", "question", "raw", "life", "now", "supersedes", "why"}


class World:
    """A memory in which time goes on, with sessions and decisions about what they state."""

    def __init__(self, memory_home: Path) -> None:
        self.day = datetime(2026, 9, 1, 9, tzinfo=UTC)
        self.names = iter(NAMES)
        self.used: dict[Topic, list[str]] = {topic: [] for topic in TOPICS}
        self.sessions = 0
        place = Settings(memory_home, memory_home / "claude", bank="proj")
        self.memory = Holdfast(place, now=lambda: format_time(self.day))

    def new_name(self, topic: Topic) -> str:
        self.used[topic].append(next(self.names))
        return self.used[topic][-1]

    def begin(self, is_read: bool) -> None:
        """A session for each topic, in which it is decided; unless it `is_read` already."""
        for topic in TOPICS:
            new = self.new_name(topic)
            if is_read:
                self.sessions += 1
                self.day += timedelta(days=2)
            else:
                self.say(topic, topic.stated, topic.echo, new)

    def say(self, topic: Topic, text: str, echo: str, new: str = "") -> None:
        """A session in which a person states something and an agent acts on it, with a commit if
        something has a `new` name."""
        self.sessions += 1
        self.day += timedelta(days=1)
        script = Script(f"{self.sessions:08}-0000-4000-8000-000000000001", start=self.day)
        script.user(f"{text.format(new=new)} Please change {topic.file} accordingly.")
        path = f"/home/dev/proj/{topic.file}"
        script.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")
        script.tool("Bash", "12 passed", command="pytest")
        if new:
            subject = topic.commit.format(new=new)
            told = f"[main 77d0b1e] {subject}"
            script.tool("Bash", told, command=f'git commit -qam "{subject}"')
        script.assistant(echo.format(new=new))
        folder = self.memory.settings.home / "claude" / "projects"
        self.memory.ingest(self.memory.ingestion.find([script.write(folder)]))
        self.day += timedelta(days=1)

    def in_force(self, topic: Topic) -> list[Fact]:
        return [fact for fact in self.memory.browse.facts() if topic.about in fact.content]

    def play(self, step: str, topic: Topic) -> None:
        """One step, if there is anything that it can be about."""
        self.day += timedelta(days=1)
        facts = self.in_force(topic)
        match step:
            case "correct" if facts:
                text = topic.stated.format(new=self.new_name(topic))
                self.memory.correct(f"fact/{facts[0].id}", text, who="ada")
            case "forget" if facts:
                self.memory.forget(f"fact/{facts[0].id}", who="ada")
            case "restore":
                self.restore()
            case "remember":
                self.memory.remember(topic.stated.format(new=self.new_name(topic)), who="ada")
            case "supersede" if facts:
                self.say(topic, topic.amended, topic.echo, self.new_name(topic))
            case "retire" if facts:
                self.retire(topic)
            case "outdate" if facts:
                self.memory.curation.judge([f"fact/{facts[0].id}"], Verdict.OUTDATED, who="ada")
            case "undo":
                self.memory.undo(who="ada")
            case "rebuild":
                self.memory.ingestion.rebuild()
            case _:
                pass

    def retire(self, topic: Topic) -> None:
        text = topic.disputed.format(old=self.used[topic][-1])
        self.say(topic, text, "I see, that rule is wrong.")
        for review in self.memory.browse.reviews():
            if review.state is ReviewState.OPEN:
                self.memory.curation.decide(review, keep=False, who="ada")

    def restore(self) -> None:
        for bank in self.memory.reader.banks.all():
            hidden = self.memory.reader.curation.find_hidden(bank.id, "fact", "", 1)
            for state in hidden:
                self.memory.restore(f"fact/{state.id}", who="ada")

    def ended_names(self) -> list[str]:
        """The names that no fact in force has: what was said with them does not hold."""
        current = " ".join(fact.content for fact in self.memory.browse.facts())
        return [name for names in self.used.values() for name in names if name not in current]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    """A home whose memory has read the session of each topic."""

    def make(home: Path) -> None:
        with _opened(home) as made:
            made.begin(is_read=False)

    return PreparedHome(tmp_path_factory.mktemp("begun"), make)


@contextmanager
def world(begun: PreparedHome) -> Generator[World]:
    with _opened(begun.fresh()) as made:
        made.begin(is_read=True)
        yield made


@contextmanager
def _opened(home: Path) -> Generator[World]:
    home.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(home))
        patch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
        patch.setenv("HOLDFAST_BANK", "proj")
        patch.chdir(home)
        made = World(home)
        with made.memory:
            yield made


def unmarked(
    value: object, ended: list[str], current: list[str], marked: bool = False
) -> list[str]:
    """The texts in what a way in tells that have an ended name without saying that it ended."""
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        known = marked or _is_marked(fields)
        return [
            text
            for key, item in fields.items()
            if key not in HISTORY
            for text in unmarked(item, ended, current, known)
        ]
    if isinstance(value, list):
        items = cast(list[Any], value)
        return [text for item in items for text in unmarked(item, ended, current, marked)]
    if not isinstance(value, str) or marked or " " not in value:
        return []
    return [
        block
        for block in _BLOCK.split(value)
        if not _has_mark(block) and any(_states(one, ended, current) for one in _statements(block))
    ]


# A blank line ends a block, unless the text goes on indented below its heading.
_BLOCK = re.compile(r"\n\s*\n(?=\S)")
_KEYWORDS = re.compile(r"^Keywords: .*$", re.MULTILINE)


def _is_marked(fields: dict[str, Any]) -> bool:
    """Whether a record as JSON says of itself that it ended."""
    remarks = [fields.get("note"), fields.get("mark")]
    said = any(isinstance(one, str) and _has_mark(one) for one in remarks)
    return said or bool(fields.get("ended")) or fields.get("status") in ("superseded", "retracted")


def _has_mark(text: str) -> bool:
    return any(mark in " ".join(text.lower().split()) for mark in MARKS)


def _statements(block: str) -> list[str]:
    """The sentences that say something; a question, a list of words to ask about, the keywords of
    a record and the note that no record has a word of the question do not."""
    block = _KEYWORDS.sub("", block)
    said = sentences(block.partition("You might ask about")[0].partition("It has records about")[0])
    said = [one for one in said if "None of these records mentions" not in " ".join(one.split())]
    return [one for one in said if not one.rstrip(' ”"').endswith("?")]


def _states(sentence: str, ended: list[str], current: list[str]) -> bool:
    """Whether a sentence has an ended name and none that holds: "no longer A but B" states B."""
    return any(name in sentence for name in ended) and not any(n in sentence for n in current)


def leaks(made: World, ended: list[str], topics: Sequence[Topic] = TOPICS) -> dict[str, list[str]]:
    """By way in that is asked about some topics, what it states although it ended."""
    current = [name for names in made.used.values() for name in names if name not in ended]
    questions = [topic.question for topic in topics]
    questions += [f"Do we still use {name}?" for name in ended[-2:]]
    ways: Iterator[Way] = all_ways(made.memory, questions, [topic.prompt for topic in topics])
    found = {name: unmarked(told, ended, current) for name, told in ways}
    return {name: texts for name, texts in found.items() if texts}


# A world takes seconds, so a shorter counterexample would be looked for for minutes.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
STEPS = (
    "correct", "forget", "restore", "supersede", "remember", "retire", "outdate", "undo", "rebuild",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("steps", [
    ("correct",),
    ("forget",),
    ("supersede",),
    ("retire",),
    ("outdate",),
    ("outdate", "rebuild"),
    ("supersede", "outdate"),
    ("correct", "correct"),
    ("correct", "forget", "rebuild"),
    ("supersede", "correct"),
    ("correct", "supersede"),
    ("remember",),
    ("remember", "remember"),
    ("remember", "supersede"),
])  # fmt: skip
def test_what_ended_is_told_as_history_by_every_way_in(
    begun: PreparedHome, steps: tuple[str, ...]
) -> None:
    with world(begun) as made:
        for step in steps:
            made.play(step, DEPLOY)
        assert made.ended_names()
        assert leaks(made, made.ended_names(), [DEPLOY]) == {}


def correctable(memory: Holdfast, kind: str, name: str) -> str:
    """The URI of a record of a kind that states what a name is in."""
    reader = memory.reader
    for session in reader.sessions.latest(None):
        exchanges = reader.sessions.exchanges(session.bank, session.id)
        turns = reader.turns.of_session(session.bank, session.id)
        memories = reader.memories.retained(session.bank)
        texts = {
            "exchange": [(x.id, x.title) for x in exchanges],
            "turn": [(turn.id, turn.text) for turn in turns],
            "memory": [(one.id, one.what) for one in memories],
        }
        for id, text in texts[kind]:
            if name in text and text.startswith("From now on"):
                return f"{kind}/{id}"
    raise AssertionError(f"no {kind} states {name}")


def next_day(made: World, kind: str) -> tuple[str, str]:
    """The name that is used to deploy, and the URI of a record of a kind that states it, on the day
    after it was stated."""
    (old,) = made.used[DEPLOY]
    if kind == "remembered":
        target = f"memory/{made.memory.remember(DEPLOY.stated.format(new=old)).id}"
    else:
        target = correctable(made.memory, kind, old)
    made.day += timedelta(days=1)
    return old, target


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["remembered", "memory", "turn", "exchange"])
def test_a_correction_of_any_record_ends_its_words_everywhere(
    begun: PreparedHome, kind: str
) -> None:
    with world(begun) as made:
        old, target = next_day(made, kind)
        made.memory.correct(target, DEPLOY.stated.format(new=made.new_name(DEPLOY)), who="ada")
        assert not any(old in fact.content for fact in made.memory.browse.facts())
        # The summary of a corrected turn has the new words and the agent's reply in one sentence.
        ended = f"always deploy with {old}" if kind == "turn" else old
        assert leaks(made, [ended], [DEPLOY]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["remembered", "memory", "exchange"])
def test_the_verdict_that_a_record_is_outdated_ends_its_words_everywhere(
    begun: PreparedHome, kind: str
) -> None:
    with world(begun) as made:
        old, target = next_day(made, kind)
        made.memory.curation.judge([target], Verdict.OUTDATED, "the branch is gone", who="ada")
        assert not any(old in fact.content for fact in made.memory.browse.facts())
        assert leaks(made, [old], [DEPLOY]) == {}
        made.memory.undo()
        assert any(old in fact.content for fact in made.memory.browse.facts())


@pytest.mark.slow
def test_exports_mark_a_concept_that_sums_up_what_ended(begun: PreparedHome) -> None:
    with world(begun) as made:
        (old,) = made.used[DEPLOY]
        store, bank = made.memory.store, made.memory.context.bank_id("proj") or ""
        exchange = correctable(made.memory, "exchange", old).partition("/")[2]
        made.play("correct", DEPLOY)  # the stage of concepts runs: what it made is replaced below
        summary = f"1 exchange on 2026-09-02. Latest: {DEPLOY.stated.format(new=old)}"
        members, time = (uri("exchange", exchange),), "2026-09-02T09:00:20.000Z"
        concept = Concept(
            bank, "c1", "release branch", summary, time, Trust.USER, members, (), (), time
        )
        with store.transaction():
            store.concepts.put(bank, [DerivedConcept(concept, concept_passage(concept), ("c1",))])
        told = dict(export_ways(made.memory))
        notes = [text for name, text in told.items() if name.startswith("note release branch")]
        assert old in str(notes)
        for text in told.values():
            assert unmarked(text, [old], made.used[DEPLOY][1:]) == []


@pytest.mark.slow
@settings(costly(6), phases=NO_SHRINKING)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, len(TOPICS) - 1)), min_size=2, max_size=6
    )
)
@example(steps=[("supersede", 0), ("retire", 0)])
@example(steps=[("retire", 1), ("restore", 1)])
@example(steps=[("supersede", 1), ("forget", 0), ("correct", 1), ("correct", 1)])
def test_no_way_in_states_ended_words_as_current(
    begun: PreparedHome, steps: list[tuple[str, int]]
) -> None:
    with world(begun) as made:
        for step, topic in steps:
            made.play(step, TOPICS[topic])
        assert leaks(made, made.ended_names()) == {}


@pytest.mark.slow
@settings(costly(8), phases=NO_SHRINKING)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(("correct", "forget", "restore", "outdate")),
            st.integers(0, len(TOPICS) - 1),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_undoing_every_decision_takes_their_endings_back(
    begun: PreparedHome, steps: list[tuple[str, int]]
) -> None:
    with world(begun) as made:
        (bank,) = made.memory.reader.banks.all()
        before = made.memory.reader.facts.ended_statements(bank.id)
        for step, topic in steps:
            made.play(step, TOPICS[topic])
        decided = made.memory.reader.facts.ended_statements(bank.id)
        made.memory.ingestion.rebuild()
        assert made.memory.reader.facts.ended_statements(bank.id) == decided
        made.memory.undo(100)
        assert made.memory.reader.facts.ended_statements(bank.id) == before
