"""Every operation of Holdfast, declared once: its name, parameters, result, level, documentation,
and how its result reads as text. The faces (command line, REST, GraphQL, MCP, Python) are derived.

`operation` is the form of a declaration, `parameters` what several share, `binding` reads
arguments, `shapes` describes them, `running` runs one, `registry` finds them; the other modules
declare the operations of one subject each. What only one face has (pages, setup, servers) is there.
"""
