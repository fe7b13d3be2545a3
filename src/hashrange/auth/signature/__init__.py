"""Signature Version 4: what a request says of its signer, and whether its signature is right."""
