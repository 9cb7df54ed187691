"""Answers to questions, made from what recall finds. Start with `answering.engine`.

`answering` turns the hits of a recall into an answer with citations, in several rounds if one is
not enough; `history` answers who, when and why from git. Of the modules here, `session_journal` and
`journal_lines` keep the steps of each question on disk, `handoff` makes the page for whoever takes
over a session or topic, and `reflection` gathers the evidence on a question, which
`model_reflection` has a model weigh by the disposition of a bank. Nothing here searches by itself
or writes to the store: the searching is in `holdfast.recall`, and `holdfast.app.answers` puts both
together.
"""
