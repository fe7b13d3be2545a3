"""What every operation's request shares: structures, the types of members, shapes that explain, plans."""
