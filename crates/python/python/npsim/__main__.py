"""The `npsim` command: `python -m npsim`."""

import signal
import sys

from ._npsim import _command  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    """Run the command with the arguments of this process."""
    # The command handles Ctrl-C itself, as the native program does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_command(["npsim", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
