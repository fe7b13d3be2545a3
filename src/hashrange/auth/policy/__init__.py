"""AWS's policy language: documents are compiled once, a decision looks at the statements of one action."""
