"""Answers from git history. Start with `git_answers`.

`question_kinds` recognises the questions that history can answer, `git_answers` answers them,
`expertise` ranks the people who know a topic, and `team_answer` joins an answer with the people to
ask.
"""
