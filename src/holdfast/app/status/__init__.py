"""How a memory stands: `health` says whether capture works, `next_step` what to do next."""
