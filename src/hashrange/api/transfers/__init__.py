"""Exports, imports and bulk puts: requests that begin long jobs, and what is to be known of these."""
