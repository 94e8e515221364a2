"""A first stack file from a few answers. The rules of stack files check each answer immediately."""

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tpuplane.quantities import counted
from tpuplane.spec import CONFIG_KEY, PROJECT_KEY, PlatformSpec, SpecError, parse_platform
from tpuplane.spec import __file__ as spec_package
from tpuplane.spec.core.locations import is_zone, known_zones, offering_zones, region_of, tpu_regions
from tpuplane.spec.core.yaml_writer import yaml_text
from tpuplane.tpu import Slice, SliceError, catalogue

CLUSTER = "main"
POOL = "trainer"

_SPREAD = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")
# Values of later answers for the check of an earlier one.
_NOT_YET = {"name": "platform", "project": "project-id", "location": "us-central1", "generation": "v6e"}


@dataclass(frozen=True, slots=True)
class Answers:
    """The values of a first stack file; None if not answered yet, or not needed."""

    name: str | None = None
    project: str | None = None
    location: str | None = None
    generation: str | None = None
    zone: str | None = None
    topology: str | None = None
    capacity: str | None = None
    reservation: str | None = None
    reserved_chips: str | None = None
    slices: str | None = None
    """`2`, or `0-4` for an autoscaled pool."""
    environment: str | None = None
    """An environment of a repository: the end of the platform's name, and a label."""
    cluster: Mapping[str, Any] | None = None
    """Fields of the cluster without a question."""

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the stack, with valid values for missing answers."""
        known = {**_NOT_YET, **{key: value for key, value in asdict(self).items() if value is not None}}
        pool: dict[str, Any] = {"generation": known["generation"]}
        pool["topology"] = _smallest(known["generation"]) if self.topology is None else self.topology
        pool |= {name: known[name] for name in ("zone", "capacity") if name in known}
        if self.reservation is not None:
            pool["reservation"] = {"name": self.reservation}
        if self.slices is not None:
            pool |= _scale(self.slices)
        platform: dict[str, Any] = {"name": known["name"]}
        if self.environment is not None:
            platform = {"name": f"{known['name']}-{self.environment}", "labels": {"environment": self.environment}}
        if self.reservation is not None:
            chips = _whole(self.reserved_chips) if self.reserved_chips is not None else 1_000_000
            zone = self.zone or next(iter(self.zones), "")
            reservation = {"generation": pool["generation"], "zone": zone, "chips": chips}
            platform["reservations"] = {self.reservation: reservation}
        platform["clusters"] = {CLUSTER: {"location": known["location"], **(self.cluster or {}), "pools": {POOL: pool}}}
        return {PROJECT_KEY: known["project"], CONFIG_KEY: platform}

    @property
    def zones(self) -> tuple[str, ...]:
        """Possible zones of the pool."""
        location, generation = self.location or "", self.generation or ""
        return (location,) if is_zone(location) else offering_zones(generation, location)

    @property
    def generations(self) -> tuple[str, ...]:
        """Generations that the location is known to offer; all generations if none is known."""
        location = self.location or ""
        names = [generation.name for generation in catalogue().generations]
        region = [name for name in names if offering_zones(name, region_of(location))]
        offered = [name for name in region if not is_zone(location) or location in catalogue().zones(name)]
        return tuple(offered or names)

    @property
    def shape(self) -> Slice:
        """One slice of the pool; needs the answers for generation and topology."""
        return Slice.of(self.generation or "", self.topology or "")

    def described(self) -> PlatformSpec:
        """The platform. Raises `SpecError` if the answers have mistakes."""
        config = self.config
        return parse_platform(config[CONFIG_KEY], project=config[PROJECT_KEY])

    def mistakes(self, field: str) -> tuple[str, ...]:
        """The mistakes in the answer to one question, with the messages of the other commands.

        An answer can also make an earlier one wrong. A mistake in a later answer is one of its placeholder.
        """
        try:
            self.described()
        except SpecError as error:
            known = [mistake for mistake in error.mistakes if getattr(self, _field(mistake.path), "") is not None]
            # This answer gives both numbers of `autoscaling`.
            scale = {"flex-no-static": f": 0-{self.slices}"}
            own = tuple(each.message + scale.get(each.rule, "") for each in known if _field(each.path) == field)
            return own + tuple(str(mistake) for mistake in known if _field(mistake.path) != field)
        return ()


def locations_offered() -> tuple[str, ...]:
    """Regions and zones with TPUs."""
    regions = tpu_regions()
    offered = {zone for generation in catalogue().generations for zone in catalogue().zones(generation.name)}
    return (*regions, *(zone for region in regions for zone in known_zones(region) if zone in offered))


def text(answers: Answers, file: Path, schema: str | None = None) -> str:
    """The stack file; `schema` is the address of its schema. Raises `SpecError` if the answers have mistakes."""
    answers.described()
    named = file.name if file.is_absolute() else file  # an absolute path is valid on this machine only
    body = yaml_text({"config": answers.config})
    return (
        f"{schema_line(file) if schema is None else f'{_EDITORS}{schema}'}\n#\n"
        f"# A TPU platform. To see its resources and their cost: tpuplane plan {named}\n"
        f"{_commented(body, answers)}"
    )


_EDITORS = "# yaml-language-server: $schema="


def schema_line(file: Path) -> str:
    """The line that tells editors where the schema is: a relative path if both files are in the same checkout."""
    schema = Path(spec_package).resolve().with_name("platform.schema.json")
    checkout, folder = schema.parents[3], file.resolve().parent
    if not folder.is_relative_to(checkout):
        return (
            "# For editors: tpuplane schema > platform.schema.json, and as the first line here:\n"
            "#   # yaml-language-server: $schema=platform.schema.json"
        )
    return f"{_EDITORS}{os.path.relpath(schema, folder)}"


def _commented(body: str, answers: Answers) -> str:
    shape = answers.shape
    hosts = f"{counted(shape.hosts, 'host')} of {shape.machine.name}"
    zone = "a zone; in a region, the control plane survives the loss of a zone"
    comments = {
        "name": "the name of the network, and the prefix of the names of clusters",
        "location": zone if is_zone(answers.location or "") else "its control plane survives the loss of a zone",
        "topology": f"{counted(shape.chips, 'chip')} a slice: {hosts}",
        "slices": "a node pool for each" if shape.multi_host else "a node for each",
        "maxSlices": "added when workloads need them",
    }
    lines = body.splitlines()
    for index, line in enumerate(lines):
        if comment := comments.pop(line.split(":")[0].strip(), None):
            lines[index] = f"{line:<35} # {comment}"
        if line.strip().startswith("location:"):
            protection = "        # deletionProtection: false"
            lines[index] += f"\n{protection:<35} # allows pulumi destroy"
    return "\n".join(lines) + "\n"


def _field(path: tuple[str | int, ...]) -> str:
    """The question to which a mistake at `path` belongs."""
    match path:
        case ("clusters", _):
            return "name"  # the prefix of cluster names
        case ("clusters", _, "pools", _, "autoscaling", *_):
            return "slices"
        case ("clusters", _, "pools", _, "reservation", *_) | ("reservations", _):
            return "reservation"
        case ("reservations", _, "chips"):
            return "reserved_chips"
        case ("clusters", _, "pools", _, field, *_) | ("clusters", _, field) | (field,):
            return str(field)
        case _:
            return ""


def _scale(slices: str) -> dict[str, Any]:
    if (match := _SPREAD.fullmatch(slices)) is None:
        return {"slices": _whole(slices)}
    return {"autoscaling": {"minSlices": int(match[1]), "maxSlices": int(match[2])}}


def _whole(value: str) -> int | str:
    """The number. Another text is returned unchanged, so that the spec rejects it."""
    return int(value) if value.isdecimal() and len(value) < 10 else value


def _smallest(generation: str) -> str:
    try:
        return catalogue().generation(generation).topologies[0]
    except SliceError:
        return "2x2"
