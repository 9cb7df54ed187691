"""The context that is injected into sessions. Start with `briefing.Briefs`; `hook_briefs` is
the fast path of a hook. What a brief says is decided in `holdfast.brief`.
"""
