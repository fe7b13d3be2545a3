"""AWS Security Token Service: as much of it as tools ask before they begin."""
