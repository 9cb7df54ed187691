from __future__ import annotations

import pytest

from holdfast.model.records import ToolCall
from holdfast.refine.core.shell_changes import changed_files

PATCH = """--- a/src/ui.js
+++ b/src/ui.js
@@ -1 +1 @@
-a
+b
"""


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a/b/' src/ui.js", ["src/ui.js"]),
        ("sed -i.bak -e 's/a; b/c && d/' -e 's/x/y/' src/a.py src/b.py", ["src/a.py", "src/b.py"]),
        ("sed -i '' 's/a/b/' src/ui.js", ["src/ui.js"]),
        ("perl -pi -e 's/a/b/' src/ui.js", ["src/ui.js"]),
        ("perl -i.bak -pe 's/a/b/' src/ui.js", ["src/ui.js"]),
        ("mv src/old.py src/new.py 2>/dev/null", ["src/old.py", "src/new.py"]),
        ("git mv -k src/old.py lib/", ["src/old.py", "lib/old.py"]),
        ("git -C . mv a.py b.py", ["a.py", "b.py"]),
        ("git rm --cached notes.md", ["notes.md"]),
        ("cp src/a.py src/b.py", ["src/b.py"]),
        ("cat > src/new.py <<'EOF'\nsed -i x trap.py\nEOF\nls", ["src/new.py"]),
        ("cat <<EOF >> src/new.py\n> no.py\nEOF", ["src/new.py"]),
        ("cat > src/cut.py <<'EOF'\nthe text goes on, and mv a b", ["src/cut.py"]),
        ("echo '{}' > settings.json && echo done", ["settings.json"]),
        ("printf x | tee -a notes.md other.md >/dev/null", ["notes.md", "other.md"]),
        (f"patch -p1 <<'EOF'\n{PATCH}EOF", ["src/ui.js"]),
        (f"git apply - <<'EOF'\n{PATCH}EOF", ["src/ui.js"]),
        ("patch src/ui.js fix.diff", ["src/ui.js"]),
        ("black -q src/a.py", ["src/a.py"]),
        ("uv run ruff format src/a.py tests", ["src/a.py"]),
        ("npx prettier --write src/ui.tsx", ["src/ui.tsx"]),
        ("gofmt -w main.go", ["main.go"]),
        (
            "cd src && sed -i s/a/b/ ui.js && cd ../lib; sed -i s/a/b/ x.js",
            ["src/ui.js", "lib/x.js"],
        ),
        ("cd /home/ann/proj && sed -i s/a/b/ src/ui.js", ["src/ui.js"]),
        ("A=1 sudo sed -i s/a/b/ /home/ann/proj/src/ui.js", ["src/ui.js"]),
        ("# mv a.py b.py\nsed -i s/a/b/ c.py", ["c.py"]),
    ],
)
def test_files_that_a_shell_command_changes_are_known(command: str, files: list[str]) -> None:
    found = changed_files(ToolCall("Bash", action=command, ok=True), "/home/ann/proj")
    assert list(found) == files


@pytest.mark.parametrize("folder", ["/d/proj", "D:/proj", "d:/PROJ"])
def test_paths_of_a_windows_shell_are_made_relative_to_the_project(folder: str) -> None:
    call = ToolCall("Bash", action=f"cd {folder}/src && sed -i s/a/b/ ui.js", ok=True)
    assert changed_files(call, "D:\\proj") == ("src/ui.js",)


@pytest.mark.parametrize(
    "command",
    [
        "sed -n 1,20p src/ui.js",
        "sed 's/a/b/' src/ui.js | head",
        "grep -rn mv src > /tmp/found.txt",
        "cat src/ui.js 2>/dev/null",
        "cat src/ui.js > /dev/null",
        "pytest -q > run.log 2>&1",
        "echo 'a > b'",
        "black --check src/a.py",
        "prettier src/ui.tsx",
        "ruff check src/a.py",
        "sed -i s/a/b/ $(git ls-files)",
        "sed -i s/a/b/ src/*.js",
        "git commit -m 'mv the handler > there'",
        "git diff",
        "cat > /c/Users/ann/AppData/Local/Temp/x.md << 'EOF'\nnote\nEOF",
        "perl -e 'print 1' src/ui.js",
        "sed -i 's/a/b",
        "",
    ],
)
def test_a_command_that_changes_no_file_it_names_changes_none(command: str) -> None:
    assert changed_files(ToolCall("Bash", action=command, ok=True)) == ()


def test_a_patch_in_a_file_is_known_by_what_was_printed() -> None:
    printed = "patching file src/ui.js\npatching file 'src/two words.js'\n"
    call = ToolCall("Bash", action="patch -p1 < fix.diff", result=printed, ok=True)
    assert changed_files(call) == ("src/ui.js", "src/two words.js")


def test_failed_calls_and_other_tools_change_nothing() -> None:
    failed = ToolCall("Bash", action="sed -i s/a/b/ src/ui.js", ok=False)
    assert changed_files(failed) == ()
    assert changed_files(ToolCall("Read", "src/ui.js", ok=True)) == ()
    assert changed_files(ToolCall("Edit", "src/ui.js", ok=True)) == ("src/ui.js",)
