"""Code from models: typed items, keys, and the requests of every pattern, in Python and TypeScript."""
