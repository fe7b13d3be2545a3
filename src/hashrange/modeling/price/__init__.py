"""What a design costs: prices by region, units of patterns, and the billing modes they can be paid by."""
