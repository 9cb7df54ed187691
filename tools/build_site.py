"""Builds the documentation site: `python tools/build_site.py [FOLDER]`, by default build/site.

The pages are those of the repository, which are also read on a forge. They are copied by section
(docs/site/nav.toml), their links are rewritten to the new places, and Sphinx makes HTML of them.
A warning of Sphinx, such as a link to a heading that does not exist, is an error.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "site"
DECISIONS = "docs/decisions"
_FENCE = re.compile(r"(^```.*?^```$|^~~~.*?^~~~$)", re.DOTALL | re.MULTILINE)
_GENERATOR = re.compile(r"<!-- \[\[\[(?:cog|end).*?-->\n?", re.DOTALL)
_PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="(?P<dark>[^"]+)"[^>]*>\s*'
    r'<img alt="(?P<alt>[^"]*)" src="(?P<light>[^"]+)"[^>]*>\s*</picture>'
)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)(\{[^}]*\})?")
_IMAGES = (".svg", ".webp", ".png")
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


class Section(NamedTuple):
    """A heading of the sidebar, and the pages below it: place in the repository, place here."""

    title: str
    pages: dict[str, str]


def read_sections() -> list[Section]:
    """The sections of nav.toml."""
    table = tomllib.loads((SITE / "nav.toml").read_text("utf-8"))
    return [
        Section(part["title"], {page: _place(part["folder"], page) for page in part["pages"]})
        for part in table["section"]
    ]


def _place(folder: str, page: str) -> str:
    path = PurePosixPath(page)
    if path.name != "README.md":
        return f"{folder}/{path.stem.lower()}.md"
    return f"{folder}/{path.parent.name}/index.md"


def places() -> dict[str, str]:
    """Every page of the site by its path in the repository."""
    found = {page: place for section in read_sections() for page, place in section.pages.items()}
    above = PurePosixPath(found[f"{DECISIONS}/README.md"]).parent
    for record in sorted((ROOT / DECISIONS).glob("[0-9]*.md")):
        found[f"{DECISIONS}/{record.name}"] = f"{above}/{record.name}"
    found["docs/site/index.md"] = "index.md"
    return found


class Staging:
    """Copies pages and pictures into one folder, as Sphinx reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places = places()

    def copy_all(self) -> None:
        """Write every page."""
        for page, place in self.places.items():
            text = self._with_contents(page, (ROOT / page).read_text("utf-8"))
            target = self.folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.rewritten(text, page), "utf-8")

    def _with_contents(self, page: str, text: str) -> str:
        if page == "docs/site/index.md":
            trees = (_toctree(section.pages.values(), section.title) for section in read_sections())
            return text + "\n" + "\n".join(trees)
        if page == f"{DECISIONS}/README.md":
            records = (name for name in self.places if re.match(rf"{DECISIONS}/\d", name))
            return text + "\n" + _toctree((Path(name).name for name in records), "")
        return text

    def rewritten(self, text: str, page: str) -> str:
        """The text of a page with links and pictures as they are on the site."""
        text = _PICTURE.sub(_both_pictures, _GENERATOR.sub("", text))
        parts = _FENCE.split(text)
        parts[::2] = [_LINK.sub(self._link_of(page), part) for part in parts[::2]]
        return "".join(parts)

    def _link_of(self, page: str) -> Callable[[re.Match[str]], str]:
        def replaced(found: re.Match[str]) -> str:
            mark, text, link, classes = found[1], found[2], found[3], found[4] or ""
            if "://" in link or link.startswith(("#", "mailto:")):
                return found[0]
            name, _, heading = link.partition("#")
            there = os.path.normpath(f"{PurePosixPath(page).parent}/{name}")
            if there in self.places:
                target = self._relative(self.places[there], page)
                return f"{mark}[{text}]({target}{'#' + heading if heading else ''})"
            if mark and there.endswith(_IMAGES):
                return self._picture(there, text, page) + classes
            # A file of the repository that is not on the site: its name without a link.
            return text

        return replaced

    def _picture(self, there: str, text: str, page: str) -> str:
        if PurePosixPath(there).name.startswith("diagram-"):
            return _inline_diagram((ROOT / there).read_text("utf-8"), text)
        place = f"images/{PurePosixPath(there).name}"
        (self.folder / "images").mkdir(exist_ok=True)
        shutil.copyfile(ROOT / there, self.folder / place)
        return f"![{text}]({self._relative(place, page)})"

    def _relative(self, place: str, page: str) -> str:
        return Path(os.path.relpath(place, PurePosixPath(self.places[page]).parent)).as_posix()


def _both_pictures(found: re.Match[str]) -> str:
    return "".join(
        f"![{found['alt']}]({found[mode]}){{.only-{mode}}}" for mode in ("light", "dark")
    )


def _inline_diagram(svg: str, title: str) -> str:
    """A drawing as part of the page, coloured by site.css; the file brings colours of its own."""
    drawn = _STYLE.sub("", svg[svg.index("<svg") :]).strip()
    lines = (line for line in drawn.splitlines() if line.strip())
    return f'<figure class="diagram" aria-label="{title}">\n' + "\n".join(lines) + "\n</figure>"


def _toctree(pages: Iterable[str], title: str) -> str:
    caption = f":caption: {title}\n" if title else ""
    listed = "\n".join(page.removesuffix(".md") for page in pages)
    return f"```{{toctree}}\n:hidden:\n{caption}\n{listed}\n```\n"


def build(target: Path) -> int:
    """Build the site into a folder; returns the exit status of Sphinx."""
    with tempfile.TemporaryDirectory(prefix="holdfast-site-") as folder:
        Staging(Path(folder)).copy_all()
        shutil.rmtree(target, ignore_errors=True)
        # Not above: tests of the rest need no Sphinx, which takes a quarter of a second to import.
        from sphinx.cmd.build import main as sphinx_build

        # It makes many small objects, few of them in circles: the garbage collector took a fifth
        # of the time. Half a gigabyte is enough without it.
        gc.disable()
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{folder}/.doctrees"]
        return sphinx_build([*options, "-c", str(SITE), folder, str(target)])


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    if status := build(place):
        sys.exit(status)
    sys.stdout.write(f"The site is at {place / 'index.html'}\n")
