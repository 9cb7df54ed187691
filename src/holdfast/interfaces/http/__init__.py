"""The HTTP server of `holdfast browse` and `holdfast serve`: web pages for people (`pages`), and
REST (`rest`, `research`), GraphQL (`graphql`) and MCP (`mcp`) for programs. `app` assembles them,
`auth` decides who may do what, `core` runs tasks with the memory, `server` runs the whole with
uvicorn."""
