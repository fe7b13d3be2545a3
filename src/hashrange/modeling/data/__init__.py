"""Items made up from the entities of a model: seeded, consistent, and with the values that designs trip over."""
