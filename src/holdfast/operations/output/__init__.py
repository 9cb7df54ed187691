"""Printing of what several commands show, or of one large part of a command: answers, references to
records, shared records, commits, threads of a forge, costs and sizes. A function takes the Screen
and the record; it opens no memory."""
