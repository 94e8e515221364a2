"""What every resource type has: its table, its plan, and the requests behind create, read, update and delete."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tpuplane_standins.providers.contract import Change, Properties, ProviderError
from tpuplane_standins.providers.gcp.api import Deadline
from tpuplane_standins.providers.gcp.bodies import flatten
from tpuplane_standins.providers.gcp.plan import diff, plan
from tpuplane_standins.providers.gcp.session import Session
from tpuplane_standins.providers.gcp.tables import load
from tpuplane_standins.providers.values import UNKNOWN

_ATTRIBUTION: Final = {"goog-pulumi-provisioned": "true"}


@dataclass(frozen=True, slots=True)
class Update:
    """A change to one resource: what it is and is to be, and where the two differ."""

    resource_id: str
    prior: Properties
    planned: Properties
    changed: Mapping[str, Change]
    deadline: Deadline


class Resource(ABC):
    """A resource type, whose rules are the table called `name`."""

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.api = session.api
        self.table = load(name)

    def url(self, path: str) -> str:
        """The address of a path below the API's base."""
        return f"{self.session.endpoints[self.table.service]}{self.table.version}{path}"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """The planned state, with the provider's defaults for project, location and deletion policy."""
        planned = plan(self.table.fields, inputs, prior)
        for name, default in self._defaults(planned, prior).items():
            if name in self.table.fields and name not in inputs and default:
                planned[name] = default
        return planned

    def _defaults(self, planned: Properties, prior: Properties | None) -> dict[str, Any]:
        defaults: dict[str, Any] = {"deletionPolicy": "DELETE", "project": self.session.project}
        if "location" not in self.table.fields:
            defaults["region"] = self.session.region
        elif prior is None:
            defaults["location"] = self.session.region or self.session.zone
        return {name: value for name, value in defaults.items() if planned.get(name) in (None, UNKNOWN, "")}

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """The changes between state and plan."""
        return diff(self.table.fields, prior, planned)

    def import_properties(self, resource_id: str) -> Properties:
        """The properties in an import id, and the defaults of what only the state has.

        Raises `ProviderError` for an id of another form.
        """
        rules = self.table.fields.items()
        own = {name: rule.default for name, rule in rules if rule.api is None and rule.default is not None}
        for pattern in self.table.import_formats:
            if match := re.fullmatch(pattern, resource_id):
                found = {key: value for key, value in match.groupdict().items() if value}
                return {**own, "project": self.session.project, **found}
        raise ProviderError(
            f'Import id "{resource_id}" doesn\'t match any of the accepted formats: {list(self.table.import_formats)}'
        )

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        """The id that the state keeps for an import id. Most types accept shorter forms of it."""
        return resource_id

    def need_project(self, properties: Mapping[str, Any]) -> str:
        """The project of a resource, its own or the provider's."""
        project = properties.get("project") or self.session.project
        if not project:
            raise ProviderError(
                "project: required field is not set: set it on the resource or with "
                "`pulumi config set gcp:project NAME`"
            )
        return str(project).removeprefix("projects/")

    def check_deletion(self, resource_id: str, state: Mapping[str, Any]) -> bool:
        """False when `deletionPolicy` ABANDON leaves the real resource alone; PREVENT is an error."""
        policy = state.get("deletionPolicy")
        if policy == "PREVENT":
            raise ProviderError(
                f'cannot destroy "{resource_id}" without setting deletion_policy="DELETE" and running `terraform apply`'
            )
        return policy != "ABANDON"

    @abstractmethod
    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        """Create it; returns id and state. Raises `InitFailed` if it exists but is not in order."""

    def created(self, resource_id: str, planned: Properties, kind: str = "") -> tuple[str, Properties]:
        """Id and state after a create. Raises `ProviderError` where the API does not show the resource."""
        state = self.read(resource_id, planned)
        if state is None:
            raise ProviderError(
                f"Error reading {kind or self.table.kind} {resource_id}: it does not exist right after its creation"
            )
        return resource_id, state

    @abstractmethod
    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        """The state as the API has it, None when the resource does not exist."""

    def update(self, update: Update) -> Properties:
        """Send what changed; returns the new state. By itself nothing is sent: what changed is the state's alone."""
        return self.read(update.resource_id, update.planned) or known(update.planned)

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        """The state for an API object; what exists on the client's side alone is carried over."""
        fields = self.table.fields
        state = flatten(fields, found)
        for name, rule in fields.items():
            if rule.api is None and prior.get(name) not in (None, UNKNOWN):
                state[name] = prior[name]
        if "project" in fields:
            state["project"] = self.need_project(prior)
        if "deletionPolicy" in fields:
            state.setdefault("deletionPolicy", "DELETE")
        return state

    @abstractmethod
    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """Delete it; a resource that does not exist is fine."""


def known(properties: Mapping[str, Any]) -> Properties:
    """The properties without what is not known yet, at any depth."""
    result: Properties = {}
    for name, value in properties.items():
        if value is UNKNOWN:
            continue
        if isinstance(value, Mapping):
            result[name] = known(value)
        elif isinstance(value, list):
            result[name] = [known(item) if isinstance(item, Mapping) else item for item in value]
        else:
            result[name] = value
    return result


def touched(changed: Mapping[str, Any], *paths: str) -> bool:
    """Whether anything at or below one of the property paths changed."""
    return any(
        change == path or change.startswith((f"{path}.", f"{path}[")) or path.startswith((f"{change}.", f"{change}["))
        for change in changed
        for path in paths
    )


def planned_labels(session: Session, given: Any, prior: Mapping[str, Any] | None) -> Properties:
    """`pulumiLabels` and `effectiveLabels` of a plan, for the labels that the user gives."""
    given = given or {}
    if given is UNKNOWN or UNKNOWN in given.values():
        return {"pulumiLabels": UNKNOWN, "effectiveLabels": UNKNOWN}
    before = dict((prior or {}).get("effectiveLabels") or {})
    managed = (prior or {}).get("pulumiLabels") or {}
    labels = dict(session.default_labels)
    strategy = session.attribution
    if strategy and (prior is None or strategy == "PROACTIVE" or before.keys() & _ATTRIBUTION.keys()):
        labels |= _ATTRIBUTION
    labels |= given
    effective = {key: value for key, value in before.items() if key not in managed or key in labels} | labels
    return {"pulumiLabels": labels, "effectiveLabels": effective}
