"""How the pages look: templates, style and scripts, and the functions that turn records into what
a template shows. Nothing here knows about HTTP; the routes are in `interfaces/http/pages`."""
