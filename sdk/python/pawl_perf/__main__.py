"""The command pawl: starts the program that came with this package, in place of this process."""

import os
import sys

from pawl_perf import binary


def main() -> None:
    path = binary()
    try:
        os.execv(path, ["pawl", *sys.argv[1:]])
    except OSError as exc:
        sys.exit(f"pawl: cannot start {path}: {exc.strerror}; install pawl-perf again")


if __name__ == "__main__":
    main()
