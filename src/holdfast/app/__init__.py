"""The composition root. `reading` starts fast and only asks; `memory` can also write."""
