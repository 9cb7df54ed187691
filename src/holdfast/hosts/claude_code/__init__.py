"""Installs Holdfast into Claude Code, and removes it again.

`install` plans and applies the changes of settings files, which `settings_entries` makes with
`json_text`; `config_file` writes them safely and `install_record` remembers how they were before.
`hook_commands` has the hooks, `scripts` what they run, `plugin_files` the same as a plugin,
`detect` finds what is installed, `uninstall` removes files from the home.
"""
