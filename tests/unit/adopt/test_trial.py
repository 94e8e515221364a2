"""The trial of an import, without a Pulumi that can be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.adopt.trial import TrialFailed, rehearse

from tests.support.existing import adopted, cluster

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("#!/bin/sh\nexit 3\n", "returned non-zero exit status 3"),
        ("#!/bin/sh\necho v2.9.0\n", "your current CLI version is 2.9.0"),
        ("not a program", "Exec format error"),
    ],
)
def test_a_pulumi_that_cannot_be_used_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, cause: str
) -> None:
    (tmp_path / "pulumi").write_text(program)
    (tmp_path / "pulumi").chmod(0o755)
    monkeypatch.delenv("PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(TrialFailed, match=rf"^pulumi on PATH cannot be used: .*{cause}"):
        rehearse(adopted(cluster("svc")))
