"""Finding and browsing records. Start with `recall.Search`; ranking itself is in
`holdfast.recall`. `browse` lists and looks up records, `plugin_search` queries plugins,
`code_freshness` and `audit` compare records with the code of today, `rule_sync` reads rule files
that changed, and `hit_view` says how a hit is shown everywhere.
"""
