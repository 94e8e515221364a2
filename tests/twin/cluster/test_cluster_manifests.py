"""The manifests of a tool are rendered by kubectl once, and kept in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.cluster.api import ClusterError
from tpuplane_twin.cluster.install import _rendered

pytestmark = pytest.mark.twin


async def test_manifests_are_rendered_once_and_a_folder_that_cannot_be_rendered_is_named(
    tools: twin_tools.Tools, tmp_path: Path
) -> None:
    (tmp_path / "kustomization.yaml").write_text("namePrefix: ray-\nresources: [settings.yaml]\n")
    settings = tmp_path / "settings.yaml"
    settings.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    rendered = await _rendered(tools.binary("kubectl"), tmp_path)
    assert rendered == [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ray-settings"}}]
    settings.unlink()
    assert await _rendered(tools.binary("kubectl"), tmp_path) == rendered

    (tmp_path / "rendered.json").unlink()
    with pytest.raises(ClusterError, match=rf"^{tmp_path} cannot be rendered: .*settings\.yaml"):
        await _rendered(tools.binary("kubectl"), tmp_path)
