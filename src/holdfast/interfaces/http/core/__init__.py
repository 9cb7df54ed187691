"""What all parts of the HTTP server share: the pool of open memories, the principal of a request,
refusals, event streams, research sessions that run in the background, and the log."""
