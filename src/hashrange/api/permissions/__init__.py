"""What every operation asks for: actions, resources and condition keys, and whether the caller may have them."""
