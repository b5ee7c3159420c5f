import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import (
    Any,
    Literal,
    NoReturn,
    NotRequired,
    Protocol,
    SupportsBytes,
    TypeAlias,
    TypedDict,
    final,
    type_check_only,
)

import numpy
import numpy.typing
import pandas
import polars
import pyarrow  # type: ignore[import-untyped, unused-ignore]
from typing_extensions import Buffer, CapsuleType

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

__version__: str

_Path: TypeAlias = str | os.PathLike[str]
# Dictionaries of files: names or paths, mapped to texts or to paths of files that contain them. The keys
# are `Any`, since the key type of a dictionary is invariant.
_Files: TypeAlias = (
    dict[Any, str]
    | dict[Any, Path]
    | dict[Any, str | Path]
    | dict[Any, os.PathLike[str]]
    | dict[Any, _Path]
)

# A string with a unit ("2ms"), or cycles of the microengines.
_Time: TypeAlias = str | int

_Core: TypeAlias = Literal["engine", "reference"]

# A value in a project file, or in a setting for one.
_Value: TypeAlias = _Path | int | float | bool | Sequence[_Path | int | float | bool]

# The path of a file, or a dictionary with the keys of such a file.
_Target: TypeAlias = _Path | dict[str, Any]

_Kind: TypeAlias = Literal[
    "arrives",
    "departed",
    "dropped",
    "exception",
    "issued",
    "aborted",
    "stalled",
    "context",
    "ring",
    "lock",
    "written",
    "touched",
    "level",
    "core",
]

_Check: TypeAlias = Literal[
    "transfer-in-flight",
    "uninitialised-read",
    "deadlock",
    "never-woken",
    "never-yields",
    "rbuf-leak",
    "buffer-leak",
    "rbuf-double-free",
    "local-memory-early",
    "signal-raised-twice",
    "ring-overflow",
    "lost-update",
    "defer-slot-entry",
]

# The keys of a project's [load]; the project's own values apply to keys left out.
@type_check_only
class _LoadKeys(TypedDict, total=False):
    rate: float | str | list[float | str]
    arrivals: str
    burst: int
    phase: str
    size: int | str
    flows: int
    flow_packets: int
    interleave: str
    sources: str
    destinations: list[str]
    spread: list[int]
    ttl: int
    special: dict[str, Any]
    time: str
    seed: int

# A rate, keys of [load], or False for no traffic.
_Load: TypeAlias = float | str | list[float | str] | _LoadKeys | dict[str, Any] | Literal[False]

@type_check_only
class _Observer(Protocol):
    @property
    def wants(self) -> Collection[_Kind] | Collection[str]: ...
    def see_batch(self, table: Table, /) -> object: ...

# An object that answers packets of the slow path; its class is called with the keys of its section.
@type_check_only
class _PacketTask(Protocol):
    def takes(self, packet: SlowPathPacket, /) -> object: ...
    def answer(
        self, packet: SlowPathPacket, frame: bytes, /
    ) -> bytes | bytearray | Sequence[int] | None: ...

# An object that works on a table, driven by a timer: the table's size, and one access per step.
@type_check_only
class _TimerTask(Protocol):
    @property
    def bytes(self) -> int: ...
    def step(self, words: list[int] | None, /) -> Read | Write | None: ...

# An object that answers beside an SRAM channel, with a longword and the cycles that the answer takes.
@type_check_only
class _Device(Protocol):
    @property
    def longwords(self) -> int: ...
    def answer(self, table: Column, question: int, /) -> tuple[int, int]: ...

@type_check_only
class _Metric(TypedDict):
    # None if there is no value; `why` then gives the reason.
    value: float | None
    why: NotRequired[str]

# `from`, a Python keyword, is the cycle at which the measurement window begins.
_Window = TypedDict("_Window", {"from": int})

@type_check_only
class _Outcome(_Window):
    schema: str
    key: str
    ending: str
    fault: str | None
    settled: NotRequired[bool]
    # The cycle at which the window ends, of a clock of `hertz`.
    until: int
    hertz: int
    metrics: dict[str, _Metric]

class Error(ValueError): ...

class Fault(Error):
    # The results up to the fault.
    run: Run | NetworkRun

class InternalError(RuntimeError): ...

@final
class Column:
    @property
    def values(self) -> memoryview: ...
    @property
    def missing(self) -> Column: ...
    def tolist(self) -> list[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int | slice, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __arrow_c_array__(
        self, requested_schema: CapsuleType | None = None
    ) -> tuple[CapsuleType, CapsuleType]: ...

@final
class Table:
    def keys(self) -> list[str]: ...
    def values(self) -> list[Column]: ...
    def items(self) -> list[tuple[str, Column]]: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def row(self, index: int) -> dict[str, Any]: ...
    def numpy(self) -> dict[str, numpy.typing.NDArray[Any]]: ...
    def pandas(self) -> pandas.DataFrame: ...
    def polars(self) -> polars.DataFrame: ...
    def arrow(self) -> pyarrow.Table: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: str, /) -> bool: ...
    def __getitem__(self, key: str, /) -> Column: ...
    def __iter__(self) -> Iterator[str]: ...
    def __array__(self, *_arguments: Any, **_options: Any) -> NoReturn: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

@final
class Program:
    @property
    def words(self) -> Column: ...
    @property
    def microengines(self) -> list[int]: ...
    @property
    def source(self) -> str: ...
    def listing(self) -> str: ...
    def disassembly(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...

@final
class Project:
    @property
    def name(self) -> str: ...
    @property
    def hertz(self) -> int: ...
    @property
    def ports(self) -> list[int]: ...
    @property
    def programs(self) -> list[Program]: ...
    @property
    def messages(self) -> list[str]: ...
    def explain(self) -> str: ...
    def define(self, name: str) -> int | None: ...
    def run(
        self,
        *,
        trace: _Path | None = None,
        load: _Load | None = None,
        pace: str | float | None = None,
        ports: str | int | Sequence[str | int] | None = None,
        link: bool = False,
        pad: str | None = None,
        until: _Time | None = None,
        drain: _Time | None = None,
        seed: int | None = None,
        core: _Core = "engine",
        allow: _Check | Sequence[_Check] | None = None,
        hops: int = 1,
        threads: int = 1,
        packets: bool = False,
        series: bool = False,
        report: bool = False,
        observer: _Observer | None = None,
        progress: Callable[[Progress], object] | bool | None = None,
    ) -> Run: ...
    def chip(
        self,
        *,
        seed: int | None = None,
        core: _Core = "engine",
        allow: _Check | Sequence[_Check] | None = None,
    ) -> Chip: ...
    def debug(
        self,
        *,
        trace: _Path | None = None,
        load: _Load | None = None,
        pace: str | float | None = None,
        ports: str | int | Sequence[str | int] | None = None,
        until: _Time | None = None,
        seed: int | None = None,
        core: _Core = "engine",
        allow: _Check | Sequence[_Check] | None = None,
        memory: int = 256,
    ) -> Debugger: ...

@final
class Run:
    @property
    def stats(self) -> dict[str, Any]: ...
    @property
    def stats_json(self) -> str: ...
    @property
    def ending(self) -> Literal["drained", "quiet", "reached", "fault", "interrupted"]: ...
    @property
    def packets(self) -> Table: ...
    @property
    def series(self) -> Table: ...
    @property
    def routers(self) -> list[Router]: ...
    @property
    def notes(self) -> list[str]: ...
    def why(self) -> str: ...
    def report(self) -> Page: ...

@final
class Router:
    @property
    def number(self) -> int: ...
    @property
    def packets(self) -> Table: ...
    @property
    def series(self) -> Table: ...
    def why(self) -> str: ...
    def report(self) -> Page: ...

@final
class Page:
    def save(self, path: _Path) -> None: ...

@final
class Chip:
    @property
    def now(self) -> int: ...
    @property
    def stats(self) -> dict[str, Any]: ...
    def feed(
        self,
        frame: bytes | bytearray | SupportsBytes | Sequence[int],
        *,
        port: int = 0,
        at: _Time | None = None,
    ) -> int: ...
    def run_to(self, until: _Time) -> None: ...
    def run_for(self, time: _Time) -> None: ...
    def departures(self) -> list[Departure]: ...
    def lost(self) -> list[tuple[int, str]]: ...
    def memory(
        self, name: str, address: int | None = None, words: int | None = None
    ) -> Column: ...
    def save(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...

@final
class Departure:
    @property
    def port(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def frame(self) -> bytes: ...
    @property
    def origin(self) -> int | None: ...
    def __bytes__(self) -> bytes: ...

@final
class Debugger:
    @property
    def cycle(self) -> int: ...
    def execute(self, command: str) -> list[str]: ...
    def goto(self, at: _Time) -> list[str]: ...
    def search(self, what: str, *, back: bool = False, watch: bool = False) -> bool: ...
    def evaluate(
        self, expression: str, *, me: int | None = None, context: int | None = None
    ) -> int: ...
    def select(self, me: int, context: int) -> None: ...
    def view(self, *, cycles: int = ...) -> dict[str, Any]: ...
    def contexts(self) -> list[dict[str, Any]]: ...
    def memory(
        self, name: str, address: int | None = None, words: int | None = None
    ) -> Column: ...
    def save(self) -> Bookmark: ...
    def restore(self, bookmark: Bookmark) -> None: ...

@final
class Bookmark:
    def __new__(cls, cycle: int, me: int, context: int) -> Bookmark: ...
    @property
    def cycle(self) -> int: ...
    @property
    def me(self) -> int: ...
    @property
    def context(self) -> int: ...

@final
class Network:
    @property
    def name(self) -> str: ...
    def run(
        self,
        *,
        until: str | None = None,
        seed: int | None = None,
        threads: int = 1,
        sample_every: str | None = None,
        progress: Callable[[Progress], object] | bool | None = None,
    ) -> NetworkRun: ...

@final
class NetworkRun:
    @property
    def stats(self) -> dict[str, Any]: ...
    @property
    def stats_json(self) -> str: ...
    @property
    def series(self) -> Table: ...

@final
class Read:
    def __new__(cls, offset: int, count: int = 1) -> Read: ...
    @property
    def offset(self) -> int: ...
    @property
    def count(self) -> int: ...

@final
class Write:
    def __new__(cls, offset: int, words: Sequence[int]) -> Write: ...
    @property
    def offset(self) -> int: ...
    @property
    def words(self) -> list[int]: ...

@final
class SlowPathPacket:
    @property
    def cycle(self) -> int: ...
    @property
    def reason(self) -> int: ...
    @property
    def port(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def header(self) -> bytes: ...

@final
class Sweep:
    @property
    def name(self) -> str: ...
    @property
    def points(self) -> list[Point]: ...
    def run(
        self,
        *,
        jobs: int = 1,
        results: _Path | None = None,
        progress: Callable[[Progress], object] | bool | None = None,
    ) -> Table: ...
    def submit(self, client: Any) -> Any: ...
    def __len__(self) -> int: ...

@final
class Point:
    @property
    def number(self) -> int: ...
    @property
    def sweep(self) -> str: ...
    @property
    def coordinates(self) -> dict[str, float]: ...
    @property
    def settings(self) -> list[str]: ...
    def run(self, *, results: _Path | None = None) -> _Outcome: ...

@final
class Progress:
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def fraction(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def remaining(self) -> float | None: ...
    @property
    def simulated(self) -> float | None: ...

def assemble(
    text: str,
    *,
    chip: _Path | None = None,
    define: dict[str, str | int] | None = None,
) -> Program: ...
def disassemble(words: Sequence[int]) -> str: ...
def load(
    target: _Target,
    *,
    set: dict[str, _Value] | None = None,
    define: dict[str, str | int] | None = None,
    imports: dict[str, int] | None = None,
    include: Sequence[_Path] | None = None,
    me: str | int | Sequence[str | int] | None = None,
    chip: _Path | None = None,
    board: _Path | None = None,
    # A path instead of a text names the file that contains it.
    files: _Files | None = None,
    base: _Path | None = None,
    tasks: Sequence[Callable[[dict[str, Any]], _PacketTask | _TimerTask]] | None = None,
    devices: Sequence[Callable[[dict[str, Any]], _Device]] | None = None,
) -> Project: ...
def network(
    target: _Target, *, set: dict[str, _Value] | None = None, base: _Path | None = None
) -> Network: ...
def read_image(path: _Path) -> list[Program]: ...
def sweep(target: _Target, *, quick: bool = False, root: _Path | None = None) -> Sweep: ...
