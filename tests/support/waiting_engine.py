"""An engine that waits where a test wants it to, and has no memory."""

from __future__ import annotations

import threading

from holdfast.interfaces.mcp.protocol import CallContext, Object

go = threading.Event()
began = threading.Event()


class WaitingEngine:
    """`slow` waits to be let go or taken back, `broken` fails, all else answers at once."""

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        context.progress("begun")
        if name == "slow":
            let_go = threading.Event()
            context.on_cancel(let_go.set)
            began.set()
            while not go.wait(0.01) and not let_go.is_set():
                pass
        if name == "broken":
            raise KeyError(name)
        context.progress("done")
        return {"content": [{"type": "text", "text": f"{name} for {context.client}"}]}

    def close(self) -> None:
        pass


def make_engine() -> WaitingEngine:
    return WaitingEngine()
