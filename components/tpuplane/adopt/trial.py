"""A trial of the import with Pulumi, its provider and a temporary state. It changes nothing in Google Cloud."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tpuplane.adopt.describe import Adopted
from tpuplane.adopt.resources import Change, changes, import_file


class TrialFailed(Exception):
    """Pulumi is missing, or one of its commands failed. The message has the reason."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The result of a trial."""

    adopted: Adopted
    """The description, with the properties that stay as they are."""
    file: dict[str, Any]
    """Pulumi's import file."""
    kept: tuple[Change, ...]
    """Differences from the resources that tpuplane would create. They stay as they are."""
    next: tuple[Change, ...]
    """The changes of the first `pulumi up` after the import."""


def rehearse(adopted: Adopted) -> Rehearsal:
    """Import into a temporary stack, and keep each property that differs. Raises `TrialFailed`."""
    from pulumi.automation import (  # noqa: PLC0415
        CommandError,
        InvalidVersionError,
        LocalWorkspaceOptions,
        ProjectSettings,
        create_stack,
    )

    from tpuplane.platform.platform import Platform  # noqa: PLC0415 (imports Pulumi)

    if shutil.which("pulumi") is None:
        raise TrialFailed('pulumi is not on PATH; install it, or on a twin: eval "$(tpuplane-twin env)"')
    with TemporaryDirectory(prefix="tpuplane-import-") as folder:
        options = LocalWorkspaceOptions(
            work_dir=folder,
            env_vars={"PULUMI_BACKEND_URL": f"file://{folder}", "PULUMI_CONFIG_PASSPHRASE": ""},
            project_settings=ProjectSettings("tpuplane", runtime="python"),
        )

        def program() -> None:
            description: Any = adopted.config
            Platform("platform", description)

        def preview(import_file: Path | None = None) -> list[dict[str, Any]]:
            answer = stack.preview(json=True, import_file=str(import_file) if import_file else None)
            steps: list[dict[str, Any]] = json.loads(answer.stdout)["steps"]
            return steps

        try:
            stack = create_stack("trial", project_name="tpuplane", program=program, opts=options)
            steps = preview(made := Path(folder, "import.json"))
            file = import_file(json.loads(made.read_text(encoding="utf-8")), steps, adopted.places)
            stack.import_resources(resources=file["resources"], name_table={}, protect=False, generate_code=False)
            kept: tuple[Change, ...] = ()
            while True:
                found = tuple(changes(preview()))
                of_adopted = (change for change in found if change.path and change.resource in adopted.places)
                if not (more := tuple(change for change in of_adopted if change not in kept)):
                    return Rehearsal(adopted, file, kept, found)
                kept += more
                adopted = adopted.kept((change.resource, change.path) for change in more)
        except CommandError as error:
            text = str(error)
            raise TrialFailed(" ".join(text[max(text.find("error:"), 0) :].split())) from None
        except (InvalidVersionError, OSError, subprocess.SubprocessError) as error:
            raise TrialFailed(f"pulumi on PATH cannot be used: {error}") from None
