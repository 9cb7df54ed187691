"""Models: text to vectors, pairs to scores, questions to answers.

Models that run here fetch and send nothing. Later versions of ONNX Runtime report to their maker
unless a variable forbids it before they are loaded.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
