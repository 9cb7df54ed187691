"""Who may send requests and what they may do: the guard in front of every request, the token and
cookies of `holdfast browse`, the keys and logins of `holdfast serve`, and what each route requires
of a key."""
