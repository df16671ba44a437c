"""An evaluator for OpenEvolve, and for other loops that call evaluate(program_path) and maximize combined_score.

Copy it and pawl_submit.py next to the loop's configuration, and say in the environment, or here, what is evolved:
PAWL_SUITE is the folder or file of the suite, PAWL_FILE the file in the suite's folder that the program replaces.

The loop needs no cascade of its own: pawl ends right after a compile error, a wrong result, or a race that is lost.
"""

import os
from typing import Dict

import pawl_submit

SUITE = os.environ.get("PAWL_SUITE", ".")
FILE = os.environ.get("PAWL_FILE", "kernel.c")


def evaluate(program_path: str) -> Dict[str, float]:
    """Returns the metrics of a program: combined_score is its speed-up, or 0 if it is wrong."""
    with open(program_path, encoding="utf-8") as f:
        program = f.read()
    return pawl_submit.metrics(pawl_submit.evaluate({FILE: program}, suite=SUITE, stage="quick"))
