"""One module a command, each with HELP, EXAMPLES, `configure(parser)` and `run(arguments)`."""
