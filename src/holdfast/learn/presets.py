"""Dispositions for common uses of a bank."""

from __future__ import annotations

from enum import StrEnum

from holdfast.model.bank import Disposition


class Preset(StrEnum):
    """A common use of a bank."""

    CODE_REVIEW = "code-review"
    BUG_INVESTIGATION = "bug-investigation"
    DOCUMENTATION = "documentation"
    SUPPORT = "support"


# Reviews need proof in exact words; support needs what people felt.
PRESETS: dict[str, Disposition] = {
    Preset.CODE_REVIEW: Disposition(4, 5, 2),
    Preset.BUG_INVESTIGATION: Disposition(4, 4, 2),
    Preset.DOCUMENTATION: Disposition(3, 3, 3),
    Preset.SUPPORT: Disposition(2, 2, 5),
}
