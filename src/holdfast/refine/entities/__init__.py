"""Entities: the people, components, files and concepts that records mention.

`name_finder` finds names in a text, `mentions` collects the names of one record with the roles they
play in it, and `alias_resolution` decides which spellings in a bank mean the same entity.
`entity_stage` keeps both up to date. Start reading at `entity_stage`.
"""
