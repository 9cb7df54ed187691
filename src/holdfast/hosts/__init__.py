"""The agents that Holdfast is at home in: how each is hooked into and let go again."""
