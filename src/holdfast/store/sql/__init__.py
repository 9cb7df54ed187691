"""What the statements of both engines are made with: the connection and its dialect, placeholders,
rows, numbered migrations; and labels and the timeline, which several parts use.

The statements themselves are in the classes of the parts: `store/records`, `knowledge`, `index`,
`ledgers` and `across_tables`.
"""
