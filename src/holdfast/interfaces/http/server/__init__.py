"""Running the HTTP application with uvicorn: `holdfast browse` for one user on this machine,
`holdfast serve` for a team, with logs, request ids, time limits and a clean shutdown."""
