"""Models that run here: text to vectors, pairs to scores. Nothing is fetched, ever."""
