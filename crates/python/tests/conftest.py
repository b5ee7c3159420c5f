"""Shared by all tests: they run in the root of the repository, and slow ones only on request."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import npsim

ROOT = Path(__file__).resolve().parents[3]

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests as well")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than twenty seconds; run by --slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="slow: run by --slow")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(autouse=True, scope="session")
def at_the_root() -> Iterator[None]:
    before = Path.cwd()
    os.chdir(ROOT)
    yield
    os.chdir(before)


@pytest.fixture
def command() -> Command:
    """The `npsim` command that the package installs."""

    def run(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).parent / "npsim"
        done = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def forward() -> Iterator[npsim.Project]:
    """The forwarder: three ports of 1 Gbit/s at 600 MHz."""
    yield npsim.load(ROOT / "microcode/forward")
