"""What an operation is: a typed function that is declared once and offered by every face.

    @operation("find", Level.READ, rest="GET /find", text=find_text)
    def find(memory: Holdfast, file: File = "", bank: Bank = "", limit: Limit = 20) -> Found:
        \"\"\"Find exchanges and commits by filters

        Exchanges by file, concept, type or time. At least one filter is required.\"\"\"

Its docstring is its documentation: one line that says what it is for, then what a caller must know.
The annotation of a parameter says its type and, as an `Arg`, its help. `binding` checks and reads
what a caller gave, `shapes` describes parameters and results as JSON Schema, and `registry` finds
an operation by its name. Nothing in here knows a face.

A parameter named `call` is not the caller's to give: it says for whom the operation runs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.principal import Level

Function = TypeVar("Function", bound=Callable[..., Any])


class Work(StrEnum):
    """What an operation does to the process that runs it, for servers: reads what is stored;
    searches; searches or changes something and may ask a model service; changes something; takes
    minutes."""

    READ = "read"
    SEARCH = "search"
    SEARCH_WITH_MODEL = "search_with_model"
    RUN = "run"
    RUN_WITH_MODEL = "run_with_model"
    RUN_LONG = "run_long"


# Called with how much is done, and how much there is in all.
Bar = Callable[[int, int], None]


class Call:
    """For whom an operation runs. `who` is the author of a decision, "" for the user of this
    machine. An agent's words are its own, not the user's. `quick` prefers a fast start to the best
    ranking, `remotes` allows to ask team servers. On a server the caller is in no folder, so none
    says where something is stored. `progress` is told in words what goes on, `notice` what a
    person should know beside the result, and `on_step` each step of a question as the line that its
    journal keeps. `watch` makes a bar, of what is done and how a count of it is written. `agreed`
    is the plan that a person saw and agreed to. `ask_secret` asks for what must not be shown."""

    def __init__(
        self,
        who: str = "",
        by_agent: bool = False,
        quick: bool = False,
        remotes: bool = True,
        progress: Callable[[str], None] = lambda text: None,
        on_cancel: Callable[[Callable[[], object]], None] = lambda handler: None,
        key: str = "",
        on_step: Callable[[dict[str, Any]], None] = lambda step: None,
        in_folder: bool = True,
        notice: Callable[[str], None] = lambda text: None,
        watch: Callable[[str, Callable[[int], str]], Bar] = lambda what, count: _no_bar,
        ask_secret: Callable[[str], str] = lambda question: "",
    ) -> None:
        self.who = who
        self.by_agent = by_agent
        self.quick = quick
        self.remotes = remotes
        self.progress = progress
        self.on_cancel = on_cancel
        # The name of the API key that the request came with; "" where none is needed.
        self.key = key
        self.on_step = on_step
        self.in_folder = in_folder
        self.notice = notice
        self.watch = watch
        self.ask_secret = ask_secret
        self.agreed: Any = None


def _no_bar(done: int, total: int) -> None:
    """Progress that nobody watches."""


OWNER = Call()


class Arg(NamedTuple):
    """How an argument is given. `most` bounds a number, the characters of a text and the items of a
    list, `least` a number. On the command line it is an option, unless `place` names the word that
    stands for it there; `many_words` are joined to one text. `programs` is for programs alone,
    `on_screen` for how the command line prints the result. `of_project` marks a bank that is by
    default that of the folder, `to_store_in` one that something is stored in. `from_input` allows a
    dash on the command line, for a line of standard input. `read` makes the value of a text, or
    raises `InputError`. `option` is the name on the command line, where it has another one there.
    """

    help: str
    place: str = ""
    many_words: bool = False
    metavar: str = ""
    least: float | None = None
    most: float | None = None
    blank: bool = True
    programs: bool = False
    on_screen: bool = False
    example: str = ""
    of_project: bool = False
    to_store_in: bool = False
    from_input: bool = False
    read: Callable[[str], Any] | None = None
    option: str = ""


class Parameter(NamedTuple):
    """One parameter of an operation. `kind` is the type of its value, or of one item where it has
    `many`; without a `required` value it is `default`."""

    name: str
    arg: Arg
    kind: Any
    many: bool = False
    required: bool = False
    default: Any = None
    optional: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it can have; () for any."""
        if issubclass(self.kind, Enum):
            return tuple(str(one.value) for one in self.kind)
        return ()


class Announcement(NamedTuple):
    """What an operation is about to do, for a person to agree to: the diff of a file, lines, and a
    question; `what` it changes. Without a diff and lines there is nothing to do. The operation gets
    the diff as `seen` if it takes that, and the `plan` as `call.agreed`, so that it does nothing
    else."""

    lines: tuple[str, ...]
    question: str = "Go ahead?"
    default: bool = True
    what: str = "the memory"
    diff: str = ""
    plan: Any = None


# The result and the arguments of an operation as text on a screen.
ShowText = Callable[..., None]


class Operation:
    """One operation, as `operation` declares it."""

    def __init__(
        self,
        name: str,
        level: Level,
        run: Callable[..., Any],
        *,
        rest: str,
        work: Work,
        text: ShowText | None,
        announce: Callable[..., Announcement] | None,
        examples: str,
        all_banks: bool,
        creates: bool,
        options: tuple[str, ...],
        public_banks: tuple[str, ...],
    ) -> None:
        self.name = name
        self.level = level
        self.run = run
        self.rest = rest
        self.work = work
        self.text = text
        self.announce = announce
        self.examples = examples
        self.all_banks = all_banks
        self.creates = creates
        self.options = options
        self.public_banks = public_banks
        documentation = (run.__doc__ or "").strip()
        head, _, rest_of_it = documentation.partition("\n")
        self.summary = head.strip().rstrip(".")
        self.details = _dedent(rest_of_it)
        self._parameters: tuple[Parameter, ...] | None = None
        self._result: Any = None

    @property
    def id(self) -> str:
        """Its name as an identifier."""
        return self.name.replace("-", "_").replace(" ", "_")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, read from the annotations of its function when first needed."""
        if self._parameters is None:
            self._read_annotations()
        assert self._parameters is not None
        return self._parameters

    @property
    def result(self) -> Any:
        """The type of its result."""
        if self._parameters is None:
            self._read_annotations()
        return self._result

    @property
    def wants_call(self) -> bool:
        """Whether its function takes the `Call`."""
        return "call" in self.run.__code__.co_varnames[: _count_arguments(self.run)]

    @property
    def changes(self) -> bool:
        """Whether it changes the memory, or the machine."""
        return self.level is not Level.READ and not self.only_reads

    @property
    def only_reads(self) -> bool:
        """Whether it leaves everything as it was; a question is kept as a research session."""
        return self.rest.startswith("GET ")

    def _read_annotations(self) -> None:
        hints = get_type_hints(self.run, include_extras=True)
        self._result = hints.pop("return")
        names = self.run.__code__.co_varnames[: _count_arguments(self.run)]
        defaults: tuple[Any, ...] = self.run.__defaults__ or ()
        by_name = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        by_name |= self.run.__kwdefaults__ or {}
        self._parameters = tuple(
            _read_parameter(name, hints[name], by_name) for name in names[1:] if name != "call"
        )


def operation(
    name: str,
    level: Level,
    *,
    rest: str = "",
    work: Work | None = None,
    text: ShowText | None = None,
    announce: Callable[..., Announcement] | None = None,
    examples: str = "",
    all_banks: bool = False,
    creates: bool = False,
    options: tuple[str, ...] = (),
    public_banks: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Declare a function as an operation, and leave it as it is.

    `name` is that of its command, method and field. `level` is what a caller needs, `all_banks`
    whether for every bank. `rest` is its method and path (without: POST, or GET where it only
    reads, and its name). `text` prints a result, `announce` says before a person's change what it
    will do. `creates` makes the memory if there is none yet. `options` are those of the command
    line alone. `public_banks` are open to everybody while it runs; it must reveal only what is
    public in them.
    """

    def declare(run: Function) -> Function:
        changes = level is not Level.READ
        setattr(
            run,
            _MARK,
            Operation(
                name,
                level,
                run,
                rest=rest or f"{'POST' if changes else 'GET'} /{name.replace(' ', '-')}",
                work=work or (Work.RUN if changes else Work.READ),
                text=text,
                announce=announce,
                examples=examples,
                all_banks=all_banks,
                creates=creates,
                options=options,
                public_banks=public_banks,
            ),
        )
        return run

    return declare


_MARK = "__operation__"


def operation_of(value: object) -> Operation | None:
    """The operation that a function was declared as; None for anything else."""
    return getattr(value, _MARK, None)


def _count_arguments(run: Callable[..., Any]) -> int:
    return run.__code__.co_argcount + run.__code__.co_kwonlyargcount


def _read_parameter(name: str, hint: Any, defaults: dict[str, Any]) -> Parameter:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"The parameter {name} has no help. Annotate it with an Arg.")
    kind, *notes = get_args(hint)
    arg = next(note for note in notes if isinstance(note, Arg))
    optional = False
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
        optional = True
    many = get_origin(kind) is tuple
    if many:
        kind = get_args(kind)[0]
    kind = get_origin(kind) or kind  # of an object, what it has is not declared
    required = name not in defaults
    return Parameter(name, arg, kind, many, required, defaults.get(name), optional)


def _dedent(text: str) -> str:
    lines = text.strip("\n").rstrip().split("\n")
    return "\n".join(line[4:] if line.startswith("    ") else line for line in lines).strip()
