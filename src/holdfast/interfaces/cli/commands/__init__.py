"""The commands that are no operations. A module with one command has HELP, EXAMPLES,
`configure(parser)` and `run(screen, arguments)`, which returns the exit status, or None for 0; a
module with several commands has a CommandSpec for each. A module imports only what its own commands
need: its imports are most of their start-up time."""
