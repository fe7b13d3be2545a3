"""Property tests here are quick and give the same examples in every run."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, max_examples=150, deadline=None, database=None)
settings.load_profile("steady")
