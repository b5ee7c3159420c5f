"""npsim: an open laboratory for network processors of the Intel IXP2400/IXP2800 family.

It assembles microcode and runs it on a cycle-approximate chip. The results are tables that NumPy,
pandas, polars and Arrow read without a copy:

    import npsim

    project = npsim.load("microcode/forward")
    run = project.run(load=0.5, packets=True)
    run.stats["packets"]["sent"], run.packets.polars()

A mistake in the input raises `npsim.Error` with the message of the `npsim` command: place, cause,
remedy. Times are strings with a unit ("2ms") or cycles of the microengines; lengths are in bytes.
"""

from ._npsim import (
    Bookmark,
    Chip,
    Column,
    Debugger,
    Departure,
    Error,
    Fault,
    InternalError,
    Network,
    NetworkRun,
    Page,
    Point,
    Program,
    Progress,
    Project,
    Read,
    Router,
    Run,
    SlowPathPacket,
    Sweep,
    Table,
    Write,
    __version__,
    _again,
    _point_again,
    _program_again,
    assemble,
    disassemble,
    load,
    network,
    read_image,
    sweep,
)

__all__ = [
    "Bookmark",
    "Chip",
    "Column",
    "Debugger",
    "Departure",
    "Error",
    "Fault",
    "InternalError",
    "Network",
    "NetworkRun",
    "Page",
    "Point",
    "Program",
    "Progress",
    "Project",
    "Read",
    "Router",
    "Run",
    "SlowPathPacket",
    "Sweep",
    "Table",
    "Write",
    "__version__",
    "assemble",
    "disassemble",
    "load",
    "network",
    "read_image",
    "sweep",
]
