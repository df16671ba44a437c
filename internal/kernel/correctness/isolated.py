"""Isolates an oracle's Python: no module beside the script hides one of Python's, numpy's or pawl's. Python imports it first of all."""

import os
import sys


def within(folder, path):
    folder, path = os.path.realpath(folder), os.path.realpath(path)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def folders(name):
    return [entry for entry in os.environ.get(name, "").split(os.pathsep) if entry]


def foreign(path):
    """Reports whether a file or folder belongs to another tree than the oracle's, and is not installed there."""
    own = TREE + [sys.prefix, sys.base_prefix, HERE]
    return any(within(tree, path) for tree in AWAY) and not any(within(tree, path) for tree in own)


def editable(finder):
    """Reports whether a finder of an editable install leads into another tree than the oracle's."""
    module = sys.modules.get(getattr(finder, "__module__", ""))
    mapping = getattr(module, "MAPPING", None)
    return isinstance(mapping, dict) and any(isinstance(path, str) and foreign(path) for path in mapping.values())


class Arrange:
    """Moves the script's folder to the end of the search path. Before 3.11, Python puts it first, after this module has run."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if sys.path and sys.path[0] != HERE and os.path.realpath(sys.path[0] or os.getcwd()) == SCRIPT:
            del sys.path[0]
        return None


HERE = os.path.dirname(os.path.abspath(__file__))
AWAY, TREE = folders("PAWL_ORACLE_AWAY"), folders("PAWL_ORACLE_TREE")

# A sitecustomize of the system or of the environment still runs; the tree of the oracle is not on the path yet.
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE and not foreign(entry)]
this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ImportError:
    sys.modules["sitecustomize"] = this

program = (getattr(sys, "argv", None) or [""])[0]
SCRIPT = os.path.realpath(os.getcwd() if program in ("", "-c", "-m") else os.path.dirname(os.path.abspath(os.path.realpath(program))))
last = [entry for entry in folders("PAWL_ORACLE_PATH") + [SCRIPT] + TREE if entry not in sys.path]
sys.path[:] = [HERE] + [entry for entry in sys.path if entry] + list(dict.fromkeys(last))
sys.meta_path[:] = [finder for finder in sys.meta_path if not editable(finder)]
if not getattr(sys.flags, "safe_path", False):
    sys.meta_path.insert(0, Arrange)
