"""The progress of a sweep or a run, as a line in a terminal or notebook."""

from __future__ import annotations

import html
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npsim import Progress

# Seconds before anything is shown: shorter work needs no line.
PATIENCE = 0.5


class TerminalLine:
    """A line on standard error that is overwritten, and removed at the end."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, progress: Progress) -> None:
        if self.shown or progress.seconds > PATIENCE:
            self.shown = True
            sys.stderr.write(f"\r{progress}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class NotebookLine:
    """A progress bar below a notebook cell, replaced by the last text at the end."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.words = ""

    def __call__(self, progress: Progress) -> None:
        self.words = str(progress)
        bar = f"<progress value='{progress.fraction:.3f}'></progress> {html.escape(self.words)}"
        if self.handle is not None or progress.seconds > PATIENCE:
            self.show(bar)

    def show(self, text: str) -> None:
        from IPython.display import display

        content = {"text/plain": self.words, "text/html": text}
        if self.handle is None:
            self.handle = display(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            self.show(html.escape(self.words))


def in_notebook() -> bool:
    """Return whether this is a notebook kernel rather than IPython in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def line(always: bool) -> TerminalLine | NotebookLine | None:
    """Return the display for progress; `None` if output goes to a file, unless `always`."""
    if in_notebook():
        return NotebookLine()
    if always or (sys.stderr is not None and sys.stderr.isatty()):
        return TerminalLine()
    return None
