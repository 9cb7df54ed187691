"""Work that happens outside a session: the worker, and what `holdfast refine` derives again.

Start with `steps`, the list of what a worker does; `runner` makes passes over it, `worker` is the
process. `transcript_queue` says which transcripts are read next, `git_follow` and `model_tasks` do
the work of one step each. To add a step, write a function in `steps` and add it to `STEPS`.
"""
