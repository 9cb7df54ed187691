"""What only a team server does: API keys for its users, and shared records that they hand in.

Start with `keys` (creating, checking and revoking keys) or `shared_records` (accepting and
searching what people share); `search_process` recalls in other processes. The HTTP routes are in
`holdfast.interfaces.http`.
"""
