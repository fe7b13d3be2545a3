"""Two versions of a model: what changed, what becomes of the items that are stored, and in which order."""
