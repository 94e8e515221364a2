"""What `import tpuplane` offers, and what it does not load to offer it."""

from __future__ import annotations

import pytest
import tpuplane

from tests.support.imported import imported

pytestmark = pytest.mark.components


def test_every_export_is_there() -> None:
    for name in tpuplane.__all__:
        assert getattr(tpuplane, name).__name__ == name
        assert name in dir(tpuplane)


def test_an_unknown_name_is_rejected_as_usual() -> None:
    with pytest.raises(AttributeError, match="No tpuplane attribute Plattform"):
        _ = tpuplane.Plattform  # type: ignore[attr-defined]


def test_the_pure_parts_load_no_pulumi() -> None:
    """The command line, the policies and the twin use them and must not wait for the SDKs."""
    assert (
        imported("import tpuplane, tpuplane.cli, tpuplane.plan; tpuplane.PlatformSpec; tpuplane.Slice", "pulumi") == []
    )
