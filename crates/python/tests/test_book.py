"""The code of the book's chapter runs, in order, as a reader would run it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/src/python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_chapter_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NPSIM_OUT", str(tmp_path))
    text = PAGE.read_text()
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 12
    # Pickling the chapter's classes needs a module name.
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        # Blank lines, so that an error shows the line in the page.
        line = text.count("\n", 0, block.start(1))
        code = compile("\n" * line + block.group(1), str(PAGE), "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, namespace)
