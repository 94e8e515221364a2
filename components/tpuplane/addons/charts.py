"""The source of a chart: this package, its publisher, or a mirror for machines that cannot reach the publisher."""

import os
from pathlib import Path
from typing import Any

import pulumi
import yaml

from tpuplane.plan.addons import AddonPlan

MIRROR_VARIABLE = "TPUPLANE_CHART_MIRROR"
PACKAGED = Path(__file__).parent / "data" / "charts"
"""The charts that are a part of this package."""


class ChartMissing(pulumi.RunError):
    """A mirror does not have this release of a chart. The engine shows a `RunError` without a traceback."""


def locate(plan: AddonPlan) -> dict[str, Any]:
    """Return the source of an add-on's chart as arguments of `helm.v4.Chart`: this package, or its repository.

    The variable TPUPLANE_CHART_MIRROR names another source: `oci://…` (without the name of the chart), the https
    address of a Helm repository, or a folder with `NAME-VERSION.tgz` or `NAME/`. Default: the plan's repository.
    Raises `ChartMissing`.
    """
    chart = plan.chart
    if plan.definition is None and (PACKAGED / chart.name).is_dir():
        return {"chart": str(PACKAGED / chart.name)}
    source = os.environ.get(MIRROR_VARIABLE) or chart.repository
    if source.startswith("oci://"):
        return {"chart": f"{source.rstrip('/')}/{chart.name}", "version": chart.version}
    if source.startswith(("https://", "http://")):
        return {"chart": chart.name, "version": chart.version, "repository_opts": {"repo": source}}
    return {"chart": str(_in_folder(Path(source).expanduser().absolute(), plan))}


def _in_folder(folder: Path, plan: AddonPlan) -> Path:
    chart = plan.chart
    restart = "tpuplane-twin down --keep-state && tpuplane-twin up"  # twins that start later have the chart
    build = f" On a twin, run: tpuplane-twin build --addon {plan.build} && {restart}" if plan.build else ""
    package, unpacked = folder / f"{chart.name}-{chart.version}.tgz", folder / chart.name
    if package.is_file():
        return package
    description = unpacked / "Chart.yaml"
    if not description.is_file():
        raise ChartMissing(
            f"the chart mirror {folder} ({MIRROR_VARIABLE}) has no chart {chart.name} {chart.version}; allowed: "
            f"{package.name} from `helm pull`, or a folder {chart.name}/. "
            f"The chart is published at {chart.repository}.{build}"
        )
    # Helm uses a folder without a check of its release.
    version = str(yaml.safe_load(description.read_text(encoding="utf-8")).get("version"))
    if version != chart.version:
        raise ChartMissing(f"{unpacked} is {chart.name} {version}; allowed: {chart.version}.{build}")
    return unpacked
