"""Opening records without a ranked search: by URI or id (`by_uri`, `trace`, `path`), by time
(`timeline`, `histogram`), by file or type (`filters`), by entity (`entities`), by concept or
keyword (`topics`), and what belongs to a commit (`commits`). Start with `trace`."""
