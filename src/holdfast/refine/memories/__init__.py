"""Memories: what is retained of exchanges, in the networks world, experience and observation.

`retention_rules` chooses what to retain of one exchange, with the help of `salience` (is a sentence
worth it), `retained_statements` what the selector chooses of a session; `model_extracted` replaces
both by what a model extracted, where one was asked. `statement_networks` has the network of each
kind. Opinions, the fourth network, are in `holdfast.learn`. `memory_stage` runs all of them over
changed sessions and combines what several sessions have in common. Start reading at `memory_stage`.
"""
