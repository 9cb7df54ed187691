"""The command line. `main` lists the commands and runs the one that is called: an operation by
`operation_command`, which makes its parser of the declaration, anything else by its module under
`commands`. `parser` parses, `options` has what several commands share, `confirm` asks before a
change. To add a command that is no operation, write a module under `commands` and add it to GROUPS
in `main`. Then run `make docs`, which writes docs/cli.md."""
