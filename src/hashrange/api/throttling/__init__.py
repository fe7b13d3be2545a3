"""Throttling: which requests are refused for want of capacity, and in which words."""
