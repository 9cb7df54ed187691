"""The context that is injected into sessions. Start with `briefing.Briefs`; `goal` is the fast
path of a hook without a server. What a brief says is decided in `holdfast.brief`.
"""
