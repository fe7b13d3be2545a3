"""The commands of `hashrange model`, one file each."""
