"""Facts about how a memory stands and what it is used for. Nothing in here changes anything.

Start with `memory_status`: the one record of counts, ledger, health, costs and failures that the
CLI, the JSON output and the health page show. `health` gathers the part that concerns capture and
judges whether it works; `next_step` picks the one thing to do next. `usage_report` is a report of
its own, made on request.
"""
