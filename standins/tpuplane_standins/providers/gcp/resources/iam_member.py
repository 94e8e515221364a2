"""One member of one role in a project's IAM policy: read, change and write back the whole policy.

Members that are created or deleted at the same time share one read-modify-write, as the official plugin batches them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.api import ApiError, Deadline, existing
from tpuplane_standins.providers.gcp.resources.base import Resource, known
from tpuplane_standins.providers.gcp.session import Session

Policy = dict[str, Any]
Modify = Callable[[Policy], None]

POLICY_VERSION: Final = 3
_CONFIRMATIONS: Final = 3
_MOST_CONFLICTS: Final = 6
# The official plugin gathers for 3 s and looks again every second, for Google's eventual consistency.
_GATHER_SECONDS: Final = 0.2
_LOOK_AGAIN_SECONDS: Final = 0.2


class IamMember(Resource):
    """A (role, member, condition) of a project; its id is `project/role/member`."""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self._waiting: dict[str, list[tuple[Modify, Future[None]]]] = {}

    def import_properties(self, resource_id: str) -> Properties:
        """Of a condition an import id has the title, and `read` finds the rest."""
        found = super().import_properties(resource_id)
        title = found.pop("title", None)
        return {**found, "condition": {"title": title}} if title else found

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"{self._target(properties)}/{properties['role']}/{properties['member']}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        self._modify(self._target(planned), lambda policy: _add(policy, planned))
        resource_id = self.canonical_id("", planned)
        if condition := planned.get("condition"):
            resource_id += f"/{condition['title']}"
        return self.created(resource_id, known(planned), "IAM Member")

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        policy = existing(lambda: self._policy(self._target(prior)))
        binding = _binding(policy, prior) if policy is not None else None
        members = binding["members"] if binding else []
        member = next((name for name in members if name.lower() == prior["member"].lower()), None)
        if policy is None or binding is None or member is None:
            return None
        state = {**known(prior), "etag": policy.get("etag", ""), "member": member, "role": binding["role"]}
        if binding.get("condition"):
            state["condition"] = binding["condition"]
        return state

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        existing(lambda: self._modify(self._target(state), lambda policy: _remove(policy, state)))
        self.read(resource_id, state)

    def _target(self, properties: Mapping[str, Any]) -> str:
        """The resource whose policy it is."""
        return self.need_project(properties)

    def _policy(self, target: str) -> Policy:
        body = {"options": {"requestedPolicyVersion": POLICY_VERSION}}
        return dict(self.api.call("POST", self.url(f"projects/{target}:getIamPolicy"), body))

    def _set_policy(self, target: str, policy: Policy) -> None:
        body = {"policy": policy, "updateMask": "bindings,etag,auditConfigs"}
        self.api.call("POST", self.url(f"projects/{target}:setIamPolicy"), body)

    def _modify(self, target: str, modify: Modify) -> None:
        """Apply `modify`: by this thread with all changes that wait, or by the thread that came first."""
        done: Future[None] = Future()
        with self.session.lock("iam-queue"):
            queue = self._waiting.setdefault(target, [])
            queue.append((modify, done))
            leads = len(queue) == 1
        if leads:
            batch: list[tuple[Modify, Future[None]]] = []
            try:
                self.api.pause(_GATHER_SECONDS)
                with self.session.lock(f"iam/{target}"):
                    batch = self._gathered(target)
                    self._write(target, [change for change, _ in batch])
            except Exception as error:
                # Also of a pause that was cut short: nothing else would end the wait of the others.
                for _, future in batch or self._gathered(target):
                    future.set_exception(error)
            else:
                for _, future in batch:
                    future.set_result(None)
        done.result()

    def _gathered(self, target: str) -> list[tuple[Modify, Future[None]]]:
        """The changes that wait; the next one starts a new batch."""
        with self.session.lock("iam-queue"):
            return self._waiting.pop(target)

    def _write(self, target: str, changes: list[Modify]) -> None:
        pause = min(_LOOK_AGAIN_SECONDS, self.api.poll_seconds)
        for attempt in range(_MOST_CONFLICTS):
            policy = self._policy(target)
            for change in changes:
                change(policy)
            try:
                self._set_policy(target, policy)
                break
            except ApiError as error:
                if error.status != 409:
                    text = f'{self.table.kind} "{target}"'
                    raise ProviderError(
                        f"Error applying IAM policy for {text}: Error setting IAM policy for {text}: {error}"
                    ) from error
                if attempt == _MOST_CONFLICTS - 1:
                    raise ProviderError(
                        f'Error applying IAM policy to {self.table.kind} "{target}": Too many conflicts.  '
                        f"Latest error: {error}"
                    ) from error
            self.api.pause(2**attempt * pause)
        for _ in range(_CONFIRMATIONS):
            self.api.pause(pause)
            self._policy(target)


class CryptoKeyIamMember(IamMember):
    """A (role, member, condition) of a Cloud KMS key; its id is `key/role/member`."""

    def _target(self, properties: Mapping[str, Any]) -> str:
        return str(properties["cryptoKeyId"])

    def _policy(self, target: str) -> Policy:
        query = {"options.requestedPolicyVersion": str(POLICY_VERSION)}
        return dict(self.api.call("GET", self.url(f"{target}:getIamPolicy"), query=query))

    def _set_policy(self, target: str, policy: Policy) -> None:
        self.api.call("POST", self.url(f"{target}:setIamPolicy"), {"policy": policy})


class RepositoryIamMember(CryptoKeyIamMember):
    """The same of an Artifact Registry repository, which the state names in full."""

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        state = super().read(resource_id, prior)
        target = self._target(prior)
        _, project, _, location, _, _ = target.split("/")
        return state and {**state, "project": project, "location": location, "repository": target}

    def _target(self, properties: Mapping[str, Any]) -> str:
        if "/" in (name := str(properties["repository"])):
            return name
        return f"projects/{self.need_project(properties)}/locations/{properties['location']}/repositories/{name}"

    def _policy(self, target: str) -> Policy:
        return dict(self.api.call("GET", self.url(f"{target}:getIamPolicy")))


def _binding(policy: Policy, member: Mapping[str, Any]) -> Policy | None:
    imported = "expression" not in (member.get("condition") or {"expression": ""})
    keys = ("title",) if imported else ("expression", "title", "description")

    def wanted(owner: Mapping[str, Any]) -> tuple[str, ...]:
        condition = owner.get("condition") or {}
        return owner["role"], *(str(condition.get(key, "")) for key in keys)

    return next((binding for binding in policy.get("bindings", []) if wanted(binding) == wanted(member)), None)


def _add(policy: Policy, member: Mapping[str, Any]) -> None:
    policy["version"] = POLICY_VERSION
    binding = _binding(policy, member)
    if binding is None:
        binding = {"role": member["role"], "members": []}
        if condition := member.get("condition"):
            binding["condition"] = dict(condition)
        policy.setdefault("bindings", []).append(binding)
    binding["members"] = sorted({*binding["members"], member["member"]})


def _remove(policy: Policy, member: Mapping[str, Any]) -> None:
    if (binding := _binding(policy, member)) is not None:
        binding["members"] = [name for name in binding["members"] if name.lower() != member["member"].lower()]
    policy["bindings"] = [binding for binding in policy.get("bindings", []) if binding["members"]]
