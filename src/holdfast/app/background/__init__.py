"""Work that happens outside a session: the worker process and the steps it runs.

Start with `worker` (the loop: lease, passes, waiting for more events), then `steps` (the list of
steps in their order). `step_runner` holds what steps share and when a failed step is retried,
`transcript_queue` which transcripts are read next. The other modules each do the work of one step
or of one command.

To add a step: write a function in `steps` that takes a `WorkerPass`, does the work that it finds in
the store, and returns a short text for people ("" if there was nothing to do); then add
`Step("name", function)` to `STEPS` at its place in the order. A step must be safe to kill and to
run again. A step that may take long calls `worker_pass.on_progress`, which stops it when the worker
must exit. A failure needs no handling: it is recorded and the step is retried later.
"""
