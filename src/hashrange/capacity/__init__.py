"""The machine behind the API: what requests cost, what they may cost, and what is observed of them."""
