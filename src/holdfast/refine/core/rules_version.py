"""The version of all that turns come to without a model: exchanges, digests, passages.

A change that gives other rows for the same turns is a new one; `holdfast refine --stale` then
makes again what older ones made.
"""

RULES_VERSION = 1
