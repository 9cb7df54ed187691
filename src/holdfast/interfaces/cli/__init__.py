"""The command line. `main` lists the commands, imports the module of the one that is called and
runs it; `parser` parses, `options` has what several commands share, `screen` and `output` print,
`confirm` asks before a change. To add a command, write a module under `commands` and add it to
GROUPS in `main`; to add an option, edit `configure` of the command. Then
run `make docs`, which writes docs/cli.md."""
