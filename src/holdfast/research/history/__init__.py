"""Answers from git history. Start with `git_answers`.

`question_kinds` recognises the questions that history can answer, `git_answers` answers them and
names the people to ask, and `expertise` ranks the people who know a topic.
"""
