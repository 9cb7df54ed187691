"""Getting started: `setup` and `uninstall`, reading transcripts, history, forges and files of other
programs (`ingest`, `forge`, `import_`), the brief of the next session, and `here`, which is
`holdfast` without a command. To add a format to import, add it to `_FORMATS` in `import_`."""
