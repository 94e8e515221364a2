"""A first stack file from a few answers: each is checked as soon as it is given, by the rules of every stack file."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import yaml

from tpuplane.plan import Capacity
from tpuplane.plan.summary import counted
from tpuplane.spec import CONFIG_KEY, PROJECT_KEY, SpecError, parse_platform
from tpuplane.spec import __file__ as spec_package
from tpuplane.spec.core.locations import is_zone, known_zones, offering_zones, region_of, tpu_regions
from tpuplane.tpu import Slice, SliceError, catalogue

CLUSTER = "main"
POOL = "trainer"

_SPREAD = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")
# What later answers are taken to be while an earlier one is checked.
_NOT_YET = {"name": "platform", "project": "project-id", "location": "us-central1", "generation": "v6e"}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a first stack file needs to know; None is not answered yet, or not needed."""

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
    """`2`, or `0-4` for a pool that scales."""

    @property
    def config(self) -> dict[str, Any]:
        """The stack's configuration. What is not answered yet is taken to be something that is right."""
        known = {**_NOT_YET, **{key: value for key, value in asdict(self).items() if value is not None}}
        pool: dict[str, Any] = {"generation": known["generation"]}
        pool["topology"] = self.topology or _smallest(known["generation"])
        if self.zone is not None:
            pool["zone"] = self.zone
        if self.capacity is not None:
            pool["capacity"] = self.capacity
        if self.reservation is not None:
            pool["reservation"] = {"name": self.reservation}
        if self.slices is not None:
            pool |= _scale(self.slices)
        platform: dict[str, Any] = {"name": known["name"]}
        if self.reservation is not None:
            platform["reservations"] = {
                self.reservation: {
                    "generation": pool["generation"],
                    "zone": self.pool_zone,
                    "chips": _whole(self.reserved_chips) if self.reserved_chips is not None else 1_000_000,
                }
            }
        platform["clusters"] = {CLUSTER: {"location": known["location"], "pools": {POOL: pool}}}
        return {PROJECT_KEY: known["project"], CONFIG_KEY: platform}

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones to choose the pool's from; one or none where there is no choice."""
        location, generation = self.location or "", self.generation or ""
        return (location,) if is_zone(location) else offering_zones(generation, location)

    @property
    def pool_zone(self) -> str:
        """Where the pool will be."""
        return self.zone or next(iter(self.zones), "")

    @property
    def generations(self) -> tuple[str, ...]:
        """Generations that the location is known to offer; all where none is known."""
        location = self.location or ""
        names = [generation.name for generation in catalogue().generations]
        region = [name for name in names if offering_zones(name, region_of(location))]
        there = [name for name in region if not is_zone(location) or location in catalogue().zones(name)]
        return tuple(there or names)

    @property
    def shape(self) -> Slice:
        """One slice of the pool, once generation and topology are answered."""
        return Slice.of(self.generation or "", self.topology or "")

    def check(self) -> None:
        """Raise `SpecError` where the answers are wrong, or wrong together."""
        config = self.config
        parse_platform(config[CONFIG_KEY], project=config[PROJECT_KEY])

    def mistakes(self, field: str) -> tuple[str, ...]:
        """What is wrong with the answer to one question, in the words of every other command."""
        try:
            self.check()
        except SpecError as error:
            return tuple(mistake.message for mistake in error.mistakes if _field(mistake.path) == field)
        return ()


def locations_offered() -> tuple[str, ...]:
    """Regions and zones with TPUs."""
    regions = tpu_regions()
    offered = {zone for generation in catalogue().generations for zone in catalogue().zones(generation.name)}
    return (*regions, *(zone for region in regions for zone in known_zones(region) if zone in offered))


def capacities() -> tuple[str, ...]:
    """How chips can be bought."""
    return get_args(Capacity)


def text(answers: Answers, file: Path) -> str:
    """The stack file. Raises `SpecError` where the answers do not make a right one together."""
    answers.check()
    named = file.name if file.is_absolute() else file  # an absolute path is one of this machine
    body = yaml.safe_dump({"config": answers.config}, sort_keys=False)
    return (
        f"{_schema_line(file)}\n#\n"
        f"# A TPU platform. What it will create and cost: tpuplane plan {named}\n"
        f"{_commented(body, answers)}"
    )


def _schema_line(file: Path) -> str:
    """What lets editors find the schema, on every machine: its path in the checkout that both files are in."""
    schema = Path(spec_package).resolve().with_name("platform.schema.json")
    checkout, folder = schema.parents[3], file.resolve().parent
    if not folder.is_relative_to(checkout):
        return (
            "# For editors: tpuplane schema > platform.schema.json, and as the first line here:\n"
            "#   # yaml-language-server: $schema=platform.schema.json"
        )
    return f"# yaml-language-server: $schema={os.path.relpath(schema, folder)}"


def _commented(body: str, answers: Answers) -> str:
    shape = answers.shape
    hosts = f"{counted(shape.hosts, 'host')} of {shape.machine.name}"
    region = "a zone; a region's control plane survives the loss of one"
    comments = {
        "name": "of the network, and the front of every cluster's name",
        "location": region if is_zone(answers.location or "") else "a region: its control plane survives a zone's loss",
        "topology": f"{counted(shape.chips, 'chip')} a slice: {hosts}",
        "slices": "a node pool for each" if shape.multi_host else "a node for each",
        "maxSlices": "they come with the load",
    }
    lines = body.splitlines()
    for index, line in enumerate(lines):
        comment = comments.pop(line.split(":")[0].strip(), None)
        if comment:
            lines[index] = f"{line:<35} # {comment}"
        if line.strip().startswith("location:"):
            protection = "        # deletionProtection: false"
            lines[index] += f"\n{protection:<35} # so that it may be taken down again"
    return "\n".join(lines) + "\n"


def _field(path: tuple[str | int, ...]) -> str:
    """The question whose answer a mistake at `path` is about."""
    match path:
        case ("clusters", _):
            return "name"  # names of clusters are made of it
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
    match = _SPREAD.fullmatch(slices)
    if match is None:
        return {"slices": _whole(slices)}
    return {"autoscaling": {"minSlices": int(match[1]), "maxSlices": int(match[2])}}


def _whole(value: str) -> int | str:
    """The number; what is none stays what it is, for the spec to refuse."""
    return int(value) if value.isdecimal() and len(value) < 10 else value


def _smallest(generation: str) -> str:
    try:
        return catalogue().generation(generation).topologies[0]
    except SliceError:
        return "2x2"
