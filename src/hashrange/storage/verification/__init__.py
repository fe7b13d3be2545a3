"""`hashrange verify`: reads a whole store and compares everything in it that can be compared."""

from hashrange.storage.verification.report import Problem, Report
from hashrange.storage.verification.walk import Verifiable, verify

__all__ = ["Problem", "Report", "Verifiable", "verify"]
