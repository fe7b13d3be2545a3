"""Accounts."""

OWN = "000000000000"  # the server's: that of everybody where signatures are not verified
