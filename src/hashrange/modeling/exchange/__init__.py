"""Models as other programs have them: read, and written."""
