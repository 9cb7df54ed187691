"""The retrievers: `text` (full text, dates, recent work), `graph` (entities), `semantic_search`
(vectors, loaded only when a model is used). Each returns scored passages; `ranking.fusion` combines
them. Start with `text`."""
