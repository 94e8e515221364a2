"""The stack that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.matrix.play import Player


@pytest.fixture(scope="session")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    with pytest.MonkeyPatch.context() as patch:
        found = Player(tmp_path_factory.mktemp("matrix"), patch)
        yield found
        found.engine.close()
