"""One self-contained HTML page of a model, for a design review."""
