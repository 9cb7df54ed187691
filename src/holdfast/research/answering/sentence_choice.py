"""Chooses the part of a record that answers a question: a sentence, with those around it that
belong to it.

The words of the question decide and, where a model tells how near the best of the sentences are to
it in meaning, both. An answer often stands beside the sentence that has the words of the question:
the cause after the symptom, the value after the reason. So what follows a sentence is quoted with
it as far as a quote is long, and before it what it refers back to ("This …") or the beginning of
its item of a list. A short statement is quoted whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from holdfast.language import (
    LIST_MARK,
    causal_relations,
    collapse_spaces,
    describes_failure,
    is_chatter,
    sentences,
    states_decision,
    stem,
    words,
)
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.recall.core.relevance import coverage, stems_in, weight_share
from holdfast.recall.core.statements import (
    ASKED_SECTIONS,
    reports_progress,
    stated_runs,
    without_outer_reports,
)
from holdfast.recall.query.expansion import Alternative, Expansion, alternatives
from holdfast.recall.query.statement_kinds import command_factor, prohibition_factor
from holdfast.recall.query.terms import (
    asking_words,
    asks_for_way,
    asks_what_is_forbidden,
    asks_what_went_wrong,
)
from holdfast.regex import regex
from holdfast.research.answering.code_lines import commands_in
from holdfast.research.answering.quoting import (
    DIGEST_LABEL,
    MAX_RECAP_CHARS,
    MAX_SENTENCE_CHARS,
    announces_more,
    joined,
)


class SentenceWeights(NamedTuple):
    """How the sentences of a record compete. Factors below 1 push a sentence back."""

    # What a sentence is: a question does not answer, a decision does, a cause answers a why.
    question: float = 0.5
    chatter: float = 0.6
    report: float = 0.5
    by_person: float = 0.85
    # What a person says is rather what is wanted than what was done, and rather the symptom than
    # what was wrong.
    by_person_of_done: float = 0.6
    decision: float = 1.1
    cause: float = 1.2
    # A shorter sentence is measured with the next one; below the second number it is none.
    short_chars: int = 90
    min_chars: int = 8
    # A sentence that was cut says enough if so much of it is left.
    long_chars: int = 120
    # How many sentences, the best by words, are compared by meaning; and how much their cosine
    # counts beside the share of the question that they cover. Of 44 questions to lists and
    # paragraphs, in other words, 14 are right by words, 22 by the cosine of all sentences, and 23
    # by both of the best six (22 of four, 24 of eight, 25 of all; 23 to 25 of all with 0.25 to 2).
    compared: int = 6
    cosine: float = 1.0
    # What a word counts that a sentence says by another term.
    other_words: float = 0.6
    # What announces a list is quoted before an item of it if it is no longer.
    announcement_chars: int = 80


_WEIGHTS = SentenceWeights()
_STATEMENT_KINDS = ("memory", "fact")
# A sentence that says little without the one before it.
_REFERS_BACK = regex(
    r"(?:(?:so|but|and|then|hence|thus) )?(?:this|that|these|those|it|they|he|she|both|so|hence|"
    r"thus|therefore|otherwise|instead)\b",
    re.IGNORECASE,
)
_ASKS_HOW = regex(r"\bhow (?:did|do|does|was|were|is|are|can|could)\b", re.IGNORECASE)
_ASKS_WHAT_WAS_DONE = regex(
    r"\bwhat (?:was|were|(?:has|have|had) been|did (?:we|you|i|they)|have (?:we|you|i)) "
    r"(?:done|do|changed?|built|build|implemented?|added?|made|make|fixed)\b|"
    r"\bwhat (?:came|became|has become) of\b|\bwhat (?:has )?happened (?:to|with|about)\b",
    re.IGNORECASE,
)
_ASKS_FOR_PROGRESS = regex(
    r"\b(?:commit\w*|push\w*|tests?|lint\w*|type ?check\w*|checks?|hooks?|builds?|pass(?:es|ed)?|"
    r"verified|finished|done yet|ready|status)\b",
    re.IGNORECASE,
)
# Asks for a command, or for what to do with one.
_ASKS_FOR_COMMAND = regex(
    r"\b(?:run|runs|ran|running|commands?|scripts?|shell|terminal|install\w*|start(?:ed|ing)?|"
    r"deploy\w*|invoke\w*)\b",
    re.IGNORECASE,
)
# A command as one types it, and no name of one between backquotes: output that is piped or put
# together, or a chain of commands.
_COMMAND = regex(
    r"2>&1|[|] ?(?:grep|rg|tail|head|wc|sed|awk|xargs|sort|uniq|jq|tee|cut)\b|"
    r"\s&& ?(?:cd|npx?|pnpm|yarn|bun|git|python3?|pytest|make|docker|cargo|go|dart|flutter|grep)\b"
)
_CODE = regex(r"`[^`]*`")
# How the lines of a log begin, if several do: with the name of the part that wrote them.
_LOG_MARK = regex(r"(?:^|\s)(\[[A-Z][\w .:-]{1,40}\]) ")
# The folders above a project tell nothing of what is said: "/home/dev/projects/".
_HOME_FOLDERS = regex(r"/(?:home|Users)/[^/\s`]+/(?:[^/\s`]+/)?")
_ASKS_FOR_PROBLEM = regex(
    r"\b(?:problems?|issues?|symptoms?|complain\w*|happened|trouble|before|used to)\b",
    re.IGNORECASE,
)
# Asks how things are now, or whether they are so.
_ASKS_FOR_PRESENT = regex(
    r"\b(?:still|now|currently|nowadays|at present|at the moment|any ?more|these days)\b|"
    r"^\W*(?:is|are|does|do|can|may|has|have)(?:n['’]t)?\b",
    re.IGNORECASE,
)
_ASKS_WHY = regex(
    r"\b(?:why|how come|reasons?|what (?:made|makes|caused|causes|led)|causes?)\b", re.IGNORECASE
)


# A longer question is a pasted text, and has words enough.
_MAX_EXPANDED = 400


class Question(NamedTuple):
    """What is asked: the weights of its words, and whether it asks for a cause, how something is,
    what was done about something, whether that went as it should, what is or was wrong, which
    command does something, what went wrong with something, what is forbidden, and for a way."""

    weights: Mapping[str, float]
    asks_why: bool = False
    asks_how: bool = False
    asks_what_was_done: bool = False
    asks_for_progress: bool = False
    asks_for_problem: bool = False
    asks_for_command: bool = False
    asks_what_went_wrong: bool = False
    asks_what_is_forbidden: bool = False
    asks_for_way: bool = False
    # Other terms for its words, and all their stems.
    others: tuple[Alternative, ...] = ()
    other_stems: Mapping[str, float] = {}

    @property
    def wants_replies(self) -> bool:
        """Whether what came of something belongs to the answer."""
        explains = self.asks_why or self.asks_how or self.asks_what_went_wrong
        return explains or self.asks_what_was_done

    @property
    def is_of_problem(self) -> bool:
        """Whether what was wrong answers it, though it was changed since."""
        return self.asks_for_problem or self.asks_why or self.asks_what_was_done


def read_question(question: str, weights: Mapping[str, float]) -> Question:
    """What a question asks for. The words in which it asks are no words of its subject: "done" and
    "went" stand in many sentences, and in none because of what is asked."""
    form = _ASKS_WHAT_WAS_DONE.search(question)
    asking = {stem(word) for word in form.group().lower().split()} if form else set[str]()
    asking |= {stem(word) for word in asking_words(question)}
    of_subject = {word: weight for word, weight in weights.items() if word not in asking}
    others = tuple(
        one
        for one in alternatives(words(question[:_MAX_EXPANDED]), Expansion.FULL)
        if not one.replaced.isdisjoint(of_subject)
    )
    return Question(
        of_subject or weights,
        asks_for_reason(question),
        _ASKS_HOW.search(question) is not None,
        _ASKS_WHAT_WAS_DONE.search(question) is not None,
        _ASKS_FOR_PROGRESS.search(question) is not None,
        _asks_for_problem(question),
        _ASKS_FOR_COMMAND.search(question) is not None,
        asks_what_went_wrong(question),
        asks_what_is_forbidden(question),
        asks_for_way(question),
        others,
        {key: 1.0 for one in others for key in one.term},
    )


def _asks_for_problem(question: str) -> bool:
    """Whether a question asks what is or was wrong. One for how things are now does not: its
    subject may be called so ("Are the issues of a file listed?")."""
    if _ASKS_FOR_PRESENT.search(question):
        return False
    return describes_failure(question) or _ASKS_FOR_PROBLEM.search(question) is not None


def asks_for_reason(question: str) -> bool:
    """Whether a question asks why something is so."""
    return _ASKS_WHY.search(question) is not None


class Part(NamedTuple):
    """The chosen part of a record: the sentence that answers most, and all that is quoted."""

    sentence: str
    quoted: str
    # How much of the question the sentence covers, with the next one if it is short.
    covered: float
    # Whether it states something, and is no mere report that work went as it should, nor a command.
    states: bool = True
    # Whether it has no word of the question, though its record has some.
    is_beside: bool = False


def longest_quote(hit: Hit) -> int:
    """The characters of a record that a quote may have."""
    return MAX_RECAP_CHARS if "recap" in hit.why else MAX_SENTENCE_CHARS


# How near some texts are to the question, if a model tells.
Cosines = Callable[[Sequence[str]], Sequence[float]]


def choose_part(
    hit: Hit, question: Question, by_person: bool, cosines: Cosines = lambda texts: ()
) -> Part:
    """The part of a record that answers most of a question."""
    if hit.kind in _STATEMENT_KINDS and len(hit.text) <= longest_quote(hit):
        # It is one statement, chosen to be told as it is.
        whole = collapse_spaces(hit.text)
        states = not _unasked_log_marks(whole, question)
        return Part(
            whole, whole, _coverage(question, whole), states, _is_beside(whole, hit, question)
        )
    shown = _shown_way(hit, question) if question.asks_for_way else None
    if shown is not None:
        return shown
    runs = _candidate_runs(hit, question)
    run, n = _best_place(runs, question, by_person, cosines)
    covered = _coverage(question, " ".join(run[n : n + 1 + _is_short(run[n])]))
    states = question.asks_for_progress or not reports_progress(run[n])
    states = states and not _is_unasked_command(run[n], question)
    quoted = _quoted(hit.text, run, n)
    return Part(run[n], quoted, covered, states, _is_beside(quoted, hit, question))


def _shown_way(hit: Hit, question: Question) -> Part | None:
    """The commands that a record shows in a block, with the sentence above them, if they have most
    words of a question for a way; None if no block has any."""
    parts = [
        Part(way, way, _coverage(question, f"{sentence} {commands}"))
        for sentence, commands in commands_in(hit.text)
        if _coverage(question, commands)
        for way in [f"{sentence} {commands}"]
        if len(way) <= MAX_SENTENCE_CHARS
    ]
    return max(parts, key=lambda part: part.covered, default=None)


def _is_beside(quoted: str, hit: Hit, question: Question) -> bool:
    """Whether what is quoted has no word of a question, though its record has some."""
    return not _coverage(question, quoted) and coverage(question.weights, hit.text) > 0


def _coverage(question: Question, text: str) -> float:
    """The share of a question that a text covers, by what it says and not by where the project
    lies. A word that it says by another term counts in part."""
    said = _HOME_FOLDERS.sub("/", text)
    present = stems_in(question.weights, said)
    own = weight_share(question.weights, present)
    if own == 1.0 or not question.others:
        return own
    terms = stems_in(question.other_stems, said)
    implied = frozenset[str]().union(*(r for r, term in question.others if terms.issuperset(term)))
    return own + _WEIGHTS.other_words * weight_share(question.weights, implied - present)


def _without_output(runs: list[list[str]], hit: Hit, question: Question) -> list[list[str]]:
    """Runs of sentences without commands and lines of a log, where the question asks for neither,
    if there are any others."""
    marks = _unasked_log_marks(hit.text, question)

    def is_output(sentence: str) -> bool:
        return _is_unasked_command(sentence, question) or any(mark in sentence for mark in marks)

    said = [[sentence for sentence in run if not is_output(sentence)] for run in runs]
    return [run for run in said if run] or runs


def _unasked_log_marks(text: str, question: Question) -> frozenset[str]:
    """With what the lines of a log in a text begin, unless the question asks what is wrong."""
    if question.asks_for_problem or question.asks_why:
        return frozenset()
    begun = _LOG_MARK.findall(text)
    return frozenset(mark for mark in begun if begun.count(mark) > 1)


def _is_unasked_command(sentence: str, question: Question) -> bool:
    """Whether a sentence is a command, and the question asks for none."""
    return not question.asks_for_command and _COMMAND.search(_CODE.sub("", sentence)) is not None


def _candidate_runs(hit: Hit, question: Question) -> list[list[str]]:
    """The sentences of a record that may be quoted, those that follow each other together."""
    asks_for_end = question.asks_what_was_done or question.asks_what_went_wrong
    stated = stated_runs(_what_was_done(hit) if asks_for_end else hit)
    stated = stated or stated_runs(hit) or [sentences(hit.text)]
    unlabelled = [[DIGEST_LABEL.sub("", sentence) for sentence in run] for run in stated]
    if not question.asks_for_progress:
        unlabelled = _without_reports(unlabelled)
    unlabelled = _without_output(unlabelled, hit, question)
    whole = [[s for s in run if _is_whole(s)] for run in unlabelled]
    runs = [run for run in whole if run] or [run for run in unlabelled if run]
    return runs or [[collapse_spaces(hit.text)]]


class _Scored(NamedTuple):
    """A sentence, by its place in a run: how much of the question it covers, and how much it can
    answer."""

    run: list[str]
    place: int
    covered: float
    factor: float


def _best_place(
    runs: Sequence[list[str]], question: Question, by_person: bool, cosines: Cosines
) -> tuple[list[str], int]:
    """The run with the sentence that answers most, and the place of that: by words, and by meaning
    among the best by words."""
    scored = [
        _Scored(
            run,
            n,
            _coverage(question, sentence),
            answer_factor(sentence, by_person, question) * _cause_factor(sentence, question),
        )
        for run in runs
        for n, sentence in enumerate(run)
    ]
    scored.sort(key=lambda one: -one.covered * one.factor)
    compared = scored[: _WEIGHTS.compared]
    near = cosines([one.run[one.place] for one in compared]) if len(compared) > 1 else ()
    best = compared[0]
    if near:
        best, _ = max(
            zip(compared, near, strict=True),
            key=lambda pair: (pair[0].covered + _WEIGHTS.cosine * pair[1]) * pair[0].factor,
        )
    return best.run, best.place


def _what_was_done(hit: Hit) -> Hit:
    """A digest without what was asked for in its session; any other record as it is."""
    if hit.kind != "digest":
        return hit
    sections = [s for s in hit.text.split("\n\n") if not s.startswith(ASKED_SECTIONS)]
    return replace(hit, text="\n\n".join(sections))


def _without_reports(runs: Sequence[list[str]]) -> list[list[str]]:
    """Runs of sentences without those that only report progress, if there are any others."""
    said = [[s for s in map(without_outer_reports, run) if not reports_progress(s)] for run in runs]
    return [run for run in said if run] or list(runs)


def _cause_factor(sentence: str, question: Question) -> float:
    """What a cause is worth among the sentences of a record. Which record is quoted is decided
    without it: people give reasons for everything."""
    asked = question.asks_why and any(one.how == "causes" for one in causal_relations(sentence))
    return _WEIGHTS.cause if asked else 1.0


def answer_factor(sentence: str, by_person: bool, question: Question) -> float:
    """How much a sentence can answer: a question hardly, what a person says in asking for something
    less, a decision more; and most of all what forbids or shows a command, where that is asked."""
    if question.asks_what_is_forbidden:
        forbidding = prohibition_factor(sentence)
        # Rules are what people say.
        return forbidding * _manner_factor(sentence, by_person and forbidding <= 1, question)
    shown = command_factor(sentence) if question.asks_for_way else 1.0
    return shown * _manner_factor(sentence, by_person, question)


def _manner_factor(sentence: str, by_person: bool, question: Question) -> float:
    if sentence.rstrip().endswith("?"):
        return _WEIGHTS.question
    if sentence.rstrip().endswith(":") or is_chatter(sentence):
        return _WEIGHTS.chatter
    if not question.asks_for_progress and reports_progress(sentence):
        return _WEIGHTS.report
    if states_decision(sentence):
        return _WEIGHTS.decision
    if by_person and (question.asks_what_was_done or question.asks_what_went_wrong):
        return _WEIGHTS.by_person_of_done
    return _WEIGHTS.by_person if by_person else 1.0


def _is_whole(sentence: str) -> bool:
    is_cut = sentence.endswith("…") and len(sentence) < _WEIGHTS.long_chars
    return len(sentence) >= _WEIGHTS.min_chars and not is_cut


def _is_short(sentence: str) -> bool:
    return len(sentence) < _WEIGHTS.short_chars


def _quoted(text: str, run: Sequence[str], n: int) -> str:
    """A sentence with what belongs to it, as far as there is room: the item of a list from its
    beginning, and after what announces the list ("Not wanted:")."""
    if sum(map(len, run)) + len(run) <= MAX_SENTENCE_CHARS:
        return joined(run)
    start = _start_of_item(text, run, n)
    if start == n and n and _REFERS_BACK.match(run[n]):
        start = n - 1
    if sum(map(len, run[start : n + 1])) >= MAX_SENTENCE_CHARS:
        start = n
    announcement = _announcement(text, run, start)
    begun = f"{announcement} {run[start]}" if announcement else run[start]
    return _with_what_follows(begun, run[start + 1 :])


def _start_of_item(text: str, run: Sequence[str], n: int) -> int:
    """The place of the sentence that begins the item of a list in which a sentence stands; its own
    place where it stands in none."""
    at = text.find(run[n])
    if at < 0:
        return n
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if LIST_MARK.match(before) is None:
        return n
    start = n
    while start and run[start - 1] in before:
        start -= 1
    return start


def _announcement(text: str, run: Sequence[str], start: int) -> str:
    """What announces the list with an item that begins a quote; "" where nothing does, or it is
    long."""
    at = text.find(run[start])
    above = next((one for one in reversed(run[:start]) if announces_more(one)), "")
    place = text.rfind(above, 0, max(at, 0)) if above else -1
    if place < 0 or len(above) > _WEIGHTS.announcement_chars:
        return ""
    _, *lines = text[place + len(above) : at].split("\n")
    in_list = bool(lines) and all(
        not line.strip() or line.startswith(" ") or LIST_MARK.match(line) for line in lines
    )
    return above if in_list and lines[-1].strip() else ""


def _with_what_follows(sentence: str, following: Sequence[str]) -> str:
    """A sentence with those after it that fit; what it announces with a colon in any case. What
    is announced later is about something else."""
    for n, text in enumerate(following):
        fits = len(sentence) + len(text) < MAX_SENTENCE_CHARS
        begins_anew = n > 0 and announces_more(text)
        if not sentence.endswith(":") and (not fits or begins_anew):
            break
        sentence = joined((sentence, text))
    return sentence
