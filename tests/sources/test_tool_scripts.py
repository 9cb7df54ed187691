"""What a script of tool calls did."""

from __future__ import annotations

from holdfast.sources.tool_scripts import NO_SCRIPT, ScriptCalls, read_script


def test_commands_are_read_however_the_script_writes_them() -> None:
    script = r"""
        const r = await tools.exec_command({cmd:"git commit -m \"Keep tabs\"", workdir: "/p"});
        await tools.exec_command({"workdir": "/p {x}", "cmd": 'pytest -q'});
        const cmd = `gh pr create \
--title "Keep tabs"`;
        await tools.exec_command({cmd, workdir});
        const check = "ls\tsrc"; await tools.exec_command({cmd: check})
        await tools.exec_command({cmd: made(elsewhere)});
        for (const step of [
            "make lint", 'make test',
        ]) { await tools.exec_command({cmd: step}); }
    """

    assert read_script(script).command.split("\n") == [
        'git commit -m "Keep tabs"',
        "pytest -q",
        'gh pr create --title "Keep tabs"',
        "ls\tsrc",
        "make lint",
        "make test",
    ]


def test_a_patch_is_read_from_the_text_that_holds_it() -> None:
    script = (
        r'const patch = "*** Begin Patch\n*** Update File: /p/a.py\n@@\n-x = \"a\"\n+x = \"b\"\n'
        r'*** End Patch"; const r = await tools.apply_patch(patch); text(r)'
    )

    assert read_script(script) == ScriptCalls(
        "",
        '*** Begin Patch\n*** Update File: /p/a.py\n@@\n-x = "a"\n+x = "b"\n*** End Patch',
    )


def test_a_script_that_calls_other_tools_is_not_taken_for_a_command() -> None:
    script = 'await tools.web__run({open: "x"}); await tools.exec_command({cmd: "ls"})'

    assert read_script(script) == NO_SCRIPT
    assert read_script("text('nothing is called')") == NO_SCRIPT
