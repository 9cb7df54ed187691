"""Everything that can go wrong, as one tree.

HoldfastError
├── InputError             what the user gave cannot be used
│   ├── NotFoundError      a record, bank or file that is not there
│   └── SettingsError      the settings file or an environment variable
├── CancelledError         somebody stopped an investigation
├── ForbiddenError         whoever asks may not do this
├── BusyError              more is asked at once than can be answered
├── ModelError             a model cannot be opened, is not the one expected, or does not answer
│   ├── ModelBusyError     the service wants to be asked later: a limit or a quota is reached
│   ├── ModelRefusedError  the service will not do this, however often it is asked
│   ├── ModelStoppedError  whoever asked does not want to hear the answer any more
│   ├── ModelTooLongError  the question does not fit into what the model can take in
│   ├── ModelAnswerError   what a model answered cannot be used
│   └── SpendError         a cap of the settings is reached, or the service rests
├── ProviderError          a plugin that is asked does not answer, or not as it should
├── RemoteError            a server of the team's does not answer, or not as it should
│   └── RemoteRefusedError  it knows neither the key nor the bank, or will not take what is sent
├── ForgeError             a forge cannot be reached, or its answer cannot be used
│   ├── ForgeBusyError     a limit is reached; what was read is kept
│   └── ForgeRefusedError  the forge knows neither the name nor the token, or will not answer
└── StoreError             the memory itself cannot be read or written
    ├── StoreBusyError     another process holds it too long
    │   └── StoreUnavailableError  the server that holds it does not answer
    ├── StoreFullError     no room on the disk
    ├── StoreCorruptError  the file is damaged, or not ours
    └── NewerSchemaError   written by a newer Holdfast

Each carries a `remedy`: one sentence that tells the user what to do next.
"""


class HoldfastError(Exception):
    """The root; `message` says what happened, `remedy` what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class InputError(HoldfastError):
    """What the user gave cannot be used."""


class NotFoundError(InputError):
    """A record, bank or file that is not there."""


class SettingsError(InputError):
    """The settings file or an environment variable."""


class CancelledError(HoldfastError):
    """Somebody stopped an investigation."""

    def __init__(self) -> None:
        super().__init__("The investigation was cancelled.", "Ask again to begin anew.")


class ForbiddenError(HoldfastError):
    """Whoever asks may not do this."""


class BusyError(HoldfastError):
    """More is asked at once than can be answered."""


class ModelError(HoldfastError):
    """A model cannot be opened, is not the one expected, or does not answer. `may_cost` tells
    that the call may have been paid for all the same, and `share` how much of it."""

    def __init__(
        self, message: str, remedy: str = "", may_cost: bool = False, share: float = 1.0
    ) -> None:
        super().__init__(message, remedy)
        self.may_cost = may_cost
        self.share = share


class ModelBusyError(ModelError):
    """The service wants to be asked later; in `retry_after_s`, if it says so."""

    def __init__(self, message: str, remedy: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, remedy)
        self.retry_after_s = retry_after_s


class ModelRefusedError(ModelError):
    """The service will not do this, however often it is asked: it knows neither the model nor
    the key, or finds fault with the question."""


class ModelStoppedError(ModelError):
    """Whoever asked does not want to hear the answer any more."""


class ModelTooLongError(ModelError):
    """The question does not fit into what the model can take in."""


class ModelAnswerError(ModelError):
    """What a model answered cannot be used."""


class SpendError(ModelError):
    """A cap of the settings is reached, or the service rests. `session` tells that other sessions
    may go on."""

    def __init__(self, message: str, remedy: str = "", session: bool = False) -> None:
        super().__init__(message, remedy)
        self.session = session


class ProviderError(HoldfastError):
    """A plugin that is asked does not answer, or not as it should. The message is the end of a
    sentence about it."""


class RemoteError(HoldfastError):
    """A server of the team's does not answer, or not as it should. The message is the end of a
    sentence about it."""


class RemoteRefusedError(RemoteError):
    """The server will not do this, however often it is asked."""


class ForgeError(HoldfastError):
    """A forge cannot be reached, or its answer cannot be used."""


class ForgeBusyError(ForgeError):
    """A limit is reached. What was read is kept, and the next run goes on from there."""


class ForgeRefusedError(ForgeError):
    """The forge knows neither the name nor the token, or will not answer."""

    def __init__(self, message: str, remedy: str = "", status: int = 0) -> None:
        super().__init__(message, remedy)
        self.status = status


class StoreError(HoldfastError):
    """The memory itself cannot be read or written."""


class StoreBusyError(StoreError):
    """Another process holds the memory for too long."""


class StoreUnavailableError(StoreBusyError):
    """The server that holds the memory cannot be reached, or takes no more connections; what was
    under way was not written by halves."""


class StoreFullError(StoreError):
    """No room on the disk; what was being written has been rolled back."""


class StoreCorruptError(StoreError):
    """The file is damaged, or was never a memory of ours."""


class NewerSchemaError(StoreError):
    """The memory was written by a newer Holdfast; nothing was changed."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"This memory has schema {found}; this program knows up to {known}.",
            "Upgrade Holdfast (pip install -U holdfast-memory); if you just did, start this program "
            "again. Nothing was changed.",
        )
        self.found = found
        self.known = known
