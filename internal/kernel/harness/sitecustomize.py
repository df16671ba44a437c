"""Writes down the files that this process loaded, for pawl, when it ends. Python imports it first of all."""

import atexit
import os
import sys


def report(folder=os.environ.get("PAWL_LOADED"), process=os.getpid()):
    if not folder or os.getpid() != process:  # a forked child has not loaded anything itself
        return
    files = {getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())}
    files = {file for file in files if isinstance(file, str) and os.path.dirname(file) != folder}
    files.update(filter(os.path.isfile, sys.argv[:1]))  # the program itself has forgotten its file by now
    folders = {name: os.path.realpath(name) for name in map(os.path.dirname, files)}
    loaded = {os.path.join(folders[os.path.dirname(file)], os.path.basename(file)) for file in files}
    try:
        with open("/proc/self/maps", errors="surrogateescape") as maps:
            loaded.update(line[line.index("/") :].rstrip("\n") for line in maps if "x" in line.split()[1] and "/" in line)
        with open(os.path.join(folder, str(process)), "w", errors="surrogateescape") as out:
            out.writelines(file + "\n" for file in sorted(loaded) if "\n" not in file)
    except OSError:
        pass


atexit.register(report)

# The folder of this file is of no use to anything else, and may hide a sitecustomize of the user's.
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ImportError:
    sys.modules["sitecustomize"] = this
