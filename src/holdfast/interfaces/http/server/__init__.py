"""Running the HTTP application with uvicorn: `holdfast browse` for one user on this machine,
`holdfast serve` for a team; `running` is what both do."""
