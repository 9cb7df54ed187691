"""The tools of plugins, for the memory agent; a plugin is called only as its manifest allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.app.answers.tool import Object
from holdfast.app.search.plugin_search import Providers
from holdfast.errors import NotFoundError
from holdfast.framed_text import defang
from holdfast.inference.chat import Tool
from holdfast.language import truncate
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.ranking.external_hits import PLUGIN_KIND
from holdfast.regex import regex

# Every tool's description is part of each request to the model: more tools cost more tokens.
_MAX_TOOLS = 12
_MAX_DESCRIPTION_CHARS = 400
# What a plugin says of how to use its tools, told once, with the first of them. It is a description
# like the others and no part of the agent's instructions: somebody else wrote it.
_MAX_GUIDE_CHARS = 600
# Model services accept tool names of these characters, up to 64 of them; `_0` to `_11` is added.
_NOT_IN_TOOL_NAMES = regex(r"[^A-Za-z0-9_-]+")
_MAX_NAME_CHARS = 48


class PluginTools:
    """The tools of all plugins that are not paused. `tools` must be called before `call`."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers
        self._known: dict[str, tuple[str, str]] = {}

    def tools(self) -> Sequence[Tool]:
        """The tools that may be called. Their descriptions say that the plugin wrote them."""
        found: list[Tool] = []
        guided: set[str] = set()
        for offer in self._providers.tools()[:_MAX_TOOLS]:
            spelled = _NOT_IN_TOOL_NAMES.sub(
                "_", f"{offer.provider}_{offer.name.rpartition('__')[2]}"
            )
            name = f"{spelled[:_MAX_NAME_CHARS]}_{len(found)}"
            self._known[name] = (offer.provider, offer.name)
            about = f"Of the plugin {offer.provider}, in its words: {offer.description}"
            about = truncate(about, _MAX_DESCRIPTION_CHARS)
            if offer.guide and offer.provider not in guided:
                about += f" Its guide: {truncate(offer.guide, _MAX_GUIDE_CHARS)}"
            guided.add(offer.provider)
            found.append(Tool(name, about, offer.schema))
        return found

    def call(self, name: str, arguments: Mapping[str, Any]) -> Object:
        """The texts that a tool returns, as external results."""
        if name not in self._known:
            known = ", ".join(self._known) or "none of plugins"
            raise NotFoundError(f"There is no tool {name[:100]!r}.", f"There are: {known}.")
        provider, tool = self._known[name]
        texts = self._providers.call(provider, tool, arguments)
        return {
            "provider": provider,
            "results": [
                {
                    "uri": uri(PLUGIN_KIND, one.id),
                    "content": defang(one.text, outside=True),
                    "metadata": {"trust": Trust.EXTERNAL.value},
                }
                for one in texts
            ],
        }
