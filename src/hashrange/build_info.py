"""What this installation is: its version, and whether its helpers are compiled."""

from hashrange import __version__
from hashrange.core import plain_items
from hashrange.metrics import Metric, Sample
from hashrange.wire import usual_requests


def metric() -> Metric:
    """The version and the helpers, as labels."""
    # They are built together: if one is missing there was no compiler, or both were left out.
    compiled = plain_items.helper is not None and usual_requests.helper is not None
    labels = {"version": __version__, "helper": "compiled" if compiled else "python"}
    about = "The version, and what checks items and reads requests."
    return Metric("hashrange_build_info", "gauge", about, [Sample(labels, 1)])
