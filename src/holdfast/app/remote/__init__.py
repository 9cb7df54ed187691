"""Team servers. Start with `remote_search`, which lists the servers and queries them along with
a recall; `outbox` sends records that a person chose to share.
"""
