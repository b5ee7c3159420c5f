"""The notebooks run, and their code passes type checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        assert not cell.get("outputs"), "outputs are not kept"
    root = FOLDER.parents[2]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": root}}).execute()


def test_notebook_code_passes_strict_mypy(tmp_path: Path) -> None:
    files = []
    for path in NOTEBOOKS:
        notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        file = tmp_path / f"{path.stem.replace('-', '_')}.py"
        # The last expression of a cell is what it shows.
        file.write_text("\n\n".join(cells) + "\n")
        files.append(file)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *files],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
