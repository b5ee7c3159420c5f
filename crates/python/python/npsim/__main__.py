"""The `npsim` command: `python -m npsim`."""

import signal
import sys

from ._npsim import _command  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    """Runs the command with the arguments of this process."""
    # Ctrl-C is the command's own business, as where it is a program by itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_command(["npsim", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
