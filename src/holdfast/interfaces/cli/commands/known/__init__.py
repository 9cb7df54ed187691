"""Lists of what was derived: facts, concepts, keywords, entities and opinions, and `reflect`, which
forms opinions. Each command prints a list, or one record in full if it is given a name; JSON shapes
are in `app.search.json_shapes`."""
