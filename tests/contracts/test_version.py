"""The version: `src/holdfast/version.py` has it, and every file that repeats it says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from bench import speed

from holdfast.version import __version__

ROOT = Path(__file__).parents[2]


def _newest_in_changelog() -> tuple[str, str]:
    """The first version of the changelog that has a date, and that date."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.search(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", text, re.M)
    assert found, "no version in CHANGELOG.md has a date"
    return found[1], found[2]


def test_the_changelog_and_the_citation_name_the_version_and_its_date() -> None:
    version, date = _newest_in_changelog()
    assert version == __version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], str(citation["date-released"])) == (version, date)


def test_files_that_repeat_the_version_have_no_other() -> None:
    offer = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    plugin = ROOT / offer["plugins"][0]["source"] / ".claude-plugin" / "plugin.json"
    named = {
        offer["metadata"]["version"],
        offer["plugins"][0]["version"],
        json.loads(plugin.read_text("utf-8"))["version"],
        *re.findall(r"^Holdfast (\S+) at ", (ROOT / "docs" / "tour.md").read_text("utf-8"), re.M),
    }
    assert named == {__version__}


def test_speed_is_compared_with_the_newest_release() -> None:
    release, before = speed.last_release()
    assert release == __version__
    assert before.commit and before.figures
