"""Following a research session until it ends, which only the command line does: everything else
about questions is an operation."""
