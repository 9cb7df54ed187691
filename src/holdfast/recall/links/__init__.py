"""How records relate: `record_links` finds links between records, `similar_records` those by
meaning, and `anchors` tells whether the code that a record is about has changed since."""
