"""The server that people and programs on this machine reach by HTTP."""
