"""What was read or written once: banks, sources, sessions, turns, decisions, git, shares …"""
