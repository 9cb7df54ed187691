"""Models that run here: text to vectors, pairs to scores. Nothing is fetched, ever, and nothing
is sent: later versions of ONNX Runtime report to their maker unless they are told not to before
they are loaded."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
