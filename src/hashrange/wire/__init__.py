"""HTTP, signatures, JSON and errors: what a client sees; no table is known here."""
