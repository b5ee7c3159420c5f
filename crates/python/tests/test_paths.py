"""Paths of `pathlib` are accepted wherever a path is."""

from __future__ import annotations

from pathlib import Path

import pytest

import npsim

SOURCE = "nop\nctx_arb[kill]\n"
KEYS = {"name": "paths", "me": [{"id": "0", "source": Path("own.uc")}]}


def words(project: npsim.Project) -> list[int]:
    return project.programs[0].words.tolist()


def test_files_take_paths_as_keys_and_as_contents(tmp_path: Path) -> None:
    there = tmp_path / "there.uc"
    there.write_text(SOURCE)
    by_text = words(npsim.load(KEYS, files={"own.uc": SOURCE}))
    assert words(npsim.load(KEYS, files={Path("own.uc"): SOURCE})) == by_text
    assert words(npsim.load(KEYS, files={Path("own.uc"): there})) == by_text
    own = npsim.load(KEYS, files={"own.uc": Path("there.uc")}, base=tmp_path)
    assert words(own) == by_text
    with pytest.raises(npsim.Error, match=r"cannot read `.*nowhere\.uc`"):
        npsim.load(KEYS, files={"own.uc": tmp_path / "nowhere.uc"})


def test_settings_and_targets_take_paths(tmp_path: Path) -> None:
    (tmp_path / "own.uc").write_text(SOURCE)
    (tmp_path / "other.uc").write_text("nop\n" + SOURCE)
    (tmp_path / "npsim.toml").write_text('[[me]]\nid = "0"\nsource = "own.uc"\n')
    one = npsim.load(tmp_path)
    other = npsim.load(tmp_path / "npsim.toml", set={"me.0.source": Path("other.uc")})
    assert len(words(other)) == len(words(one)) + 1
