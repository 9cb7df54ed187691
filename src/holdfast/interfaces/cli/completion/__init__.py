"""Completion for shells. `arguments` reads what each command takes off its parser; each other
module writes the script of one shell from that. To support another shell, add a module with a
function `script`, and its name to SHELLS in `commands/admin/completion.py`."""
