"""The scripts of the benchmark are not a package: let the tests import them."""

import sys

from house import ROOT

sys.path.insert(0, str(ROOT / "bench"))
