"""What surrounds every request: a chain of links around one executor."""
