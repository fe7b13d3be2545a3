"""The model against the real engine: every pattern, asked of made-up items, beside its definition."""
