"""What every part of the application needs. Start with `context.Context`: the store, settings,
clock and banks of an open memory. `backends` opens stores, `models` opens embedding models,
`lease` allows one worker per home, and `hook_socket` answers hooks.
"""
