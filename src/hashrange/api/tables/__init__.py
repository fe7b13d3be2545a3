"""What the table operations share: shapes, rules, states and descriptions."""
