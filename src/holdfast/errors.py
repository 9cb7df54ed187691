"""All errors of the program, as one tree.

HoldfastError
├── InputError             the user's input cannot be used
│   ├── NotFoundError      a record, bank or file does not exist
│   └── SettingsError      a settings file or an environment variable is wrong
├── CancelledError         an investigation was cancelled
├── ForbiddenError         the principal may not do this
├── BusyError              there are too many requests at once
├── ModelError             a model cannot be opened, is not the one expected, or does not answer
│   ├── ModelBusyError     a limit or a quota of the service is reached; try later
│   ├── ModelRefusedError  the service refuses the request for good
│   ├── ModelStoppedError  the caller no longer wants the answer
│   ├── ModelTooLongError  the question is longer than the model allows
│   ├── ModelAnswerError   the answer of a model cannot be used
│   └── SpendError         a spending cap is reached, or the service is paused
├── ProviderError          a plugin does not answer, or not as expected
├── RemoteError            a team server does not answer, or not as expected
│   └── RemoteRefusedError  it rejects the key, the bank, or what was sent
├── ForgeError             a forge cannot be reached, or its answer cannot be used
│   ├── ForgeBusyError     a limit is reached; what was read is kept
│   └── ForgeRefusedError  the forge rejects the name or the token
└── StoreError             the memory itself cannot be read or written
    ├── StoreBusyError     another process locks it for too long
    │   └── StoreUnavailableError  the database server does not answer
    ├── StoreFullError     the disk is full
    ├── StoreCorruptError  the file is damaged, or not ours
    └── NewerSchemaError   written by a newer Holdfast

Each has a `remedy`: one sentence that says what to do next. `unknown_name` makes the error for a
name that is not known, such as a parameter, and suggests the nearest one that is.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.version import __version__


class HoldfastError(Exception):
    """The base class; `message` says what happened, `remedy` what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        """How it goes to another process: subclasses are made of other arguments."""
        return BaseException.__new__, (type(self), self.message), self.__dict__

    @property
    def full_text(self) -> str:
        """What happened and what to do about it, in one line."""
        return f"{self.message} {self.remedy}".strip()


class InputError(HoldfastError):
    """The user's input cannot be used."""


def require_words(text: str, what: str, remedy: str = "Say what to look for.") -> str:
    """The text; raises `InputError` if it has nothing but blanks."""
    if not text.strip():
        raise InputError(f"The {what} is empty.", remedy)
    return text


class NotFoundError(InputError):
    """A record, bank or file does not exist."""


class SettingsError(InputError):
    """A settings file or an environment variable is wrong."""


class CancelledError(HoldfastError):
    """An investigation was cancelled."""

    def __init__(self) -> None:
        super().__init__("The investigation was cancelled.", "Ask again to start over.")


class ForbiddenError(HoldfastError):
    """The principal may not do this."""


class BusyError(HoldfastError):
    """There are too many requests at once."""


class ModelError(HoldfastError):
    """A model cannot be opened, is not the one expected, or does not answer. `may_cost` is
    whether the call may have been charged all the same, and `share` how much of it."""

    def __init__(
        self, message: str, remedy: str = "", may_cost: bool = False, share: float = 1.0
    ) -> None:
        super().__init__(message, remedy)
        self.may_cost = may_cost
        self.share = share


class ModelBusyError(ModelError):
    """A limit or a quota is reached; try again in `retry_after_s`, if the service says so."""

    def __init__(self, message: str, remedy: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after_s = retry_after_s


class ModelRefusedError(ModelError):
    """The service refuses the request for good: it rejects the model, the key or the question."""


class ModelStoppedError(ModelError):
    """The caller no longer wants the answer."""


class ModelTooLongError(ModelError):
    """The question is longer than the model allows."""


class ModelAnswerError(ModelError):
    """The answer of a model cannot be used."""


class SpendError(ModelError):
    """A spending cap is reached, or the service is paused. `session` is whether only the cap of one
    session is reached."""

    def __init__(self, message: str, remedy: str = "", session: bool = False) -> None:
        super().__init__(message, remedy)
        self.session = session


class ProviderError(HoldfastError):
    """A plugin does not answer, or not as expected. The message completes a sentence that begins
    with its name."""


class RemoteError(HoldfastError):
    """A team server does not answer, or not as expected. The message completes a sentence that
    begins with its name."""


class RemoteRefusedError(RemoteError):
    """The server refuses the request for good."""


class ForgeError(HoldfastError):
    """A forge cannot be reached, or its answer cannot be used."""


class ForgeBusyError(ForgeError):
    """A rate limit is reached. What was read is kept, and the next run continues there."""


class ForgeRefusedError(ForgeError):
    """The forge rejects the name or the token, or refuses the request."""

    def __init__(self, message: str, remedy: str = "", status: int = 0) -> None:
        super().__init__(message, remedy)
        self.status = status


class StoreError(HoldfastError):
    """The memory itself cannot be read or written."""


class StoreBusyError(StoreError):
    """Another process locks the memory for too long."""


class StoreUnavailableError(StoreBusyError):
    """The database server cannot be reached, or accepts no more connections; an open transaction
    was not applied."""


class StoreFullError(StoreError):
    """The disk is full; the write was rolled back."""


class StoreCorruptError(StoreError):
    """The file is damaged, or is not a memory of this program."""


class NewerSchemaError(StoreError):
    """The memory was written by a newer Holdfast; nothing was changed."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"A newer Holdfast wrote this memory: it has schema {found}, and this version "
            f"({__version__}) knows up to {known}.",
            "Upgrade Holdfast (pip install -U holdfast-memory); if you just did, start this "
            "program again. Nothing was changed.",
        )
        self.found = found
        self.known = known


# How alike (0 to 1) a name must be to be suggested; the default of difflib. Lower suggests more,
# and more often something unrelated.
_MIN_SIMILARITY = 0.6
# Of a name that was given; a longer one is no typing mistake.
_MAX_NAME_CHARS = 100


def suggest(given: str, known: Iterable[str]) -> str:
    """`Did you mean …? ` with the nearest known name, or "" if none is near."""
    from difflib import get_close_matches

    # Compared without the dashes, which all options have in common.
    bare = {name.lstrip("-"): name for name in known}
    close = get_close_matches(given[:_MAX_NAME_CHARS].lstrip("-"), list(bare), 1, _MIN_SIMILARITY)
    return f"Did you mean {bare[close[0]]!r}? " if close else ""


def unknown_name(what: str, given: str, known: Iterable[str]) -> InputError:
    """The error for a name that `what` (such as "There is no parameter") does not have."""
    names = list(dict.fromkeys(known))
    listed = f"Known names: {', '.join(names)}." if names else "None is known here."
    return InputError(f"{what} {given[:_MAX_NAME_CHARS]!r}.", f"{suggest(given, names)}{listed}")
