"""How a model file is read: YAML with places, then its sections, then what they say of each other."""
