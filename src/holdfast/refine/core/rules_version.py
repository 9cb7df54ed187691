"""The version of the rules that derive exchanges, digests and passages from turns without a model.

Raise it with every change that derives other rows from the same turns; `holdfast refine --stale`
then derives again what an older version derived.
"""

RULES_VERSION = 22
