"""The Python package of the tree, as `mechd`."""
import os
import sys
from harness import ROOT

PACKAGE = os.path.join(ROOT, 'clients', 'python')
sys.path.insert(0, PACKAGE)
import mechd  # noqa: E402,F401
