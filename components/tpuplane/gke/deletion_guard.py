"""Protection of a cluster with `deletionProtection` from each way to delete it."""

from typing import NotRequired, cast

import pulumi

from tpuplane.gke.arguments import ClusterRef


class DeletionGuard:
    """Rejects the deletion of a protected cluster before its node pools are deleted.

    Pulumi's own protection can be removed from the state. Without a preview, the engine reads it only after it has
    deleted everything in the cluster. A hook stays in the state until an `up` with `deletionProtection: false`.
    `destroy` rejects a stack with hooks at once, and `up` deletes no resource with a hook that the program no longer
    has.
    """

    def __init__(self, name: str, *, protected: bool) -> None:
        self.protected = protected
        self._kept: set[str] = set()
        # Without a program, the engine shows only the name. With another name, existing stacks would have another hook.
        self._hook = pulumi.ResourceHook(
            f"{name} has deletionProtection: true; set it to false and run `pulumi up`, then delete it",
            self._check,
            pulumi.ResourceHookOptions(on_dry_run=True),
        )

    @property
    def hooks(self) -> pulumi.ResourceHookBinding | None:
        """Hooks of the cluster and of its pools."""
        return pulumi.ResourceHookBinding(before_delete=[self._hook]) if self.protected else None

    def watch(self, resource: pulumi.Resource) -> None:
        """Register the cluster, which is always the first, or a pool of the program."""
        resource.urn.apply(self._kept.add)

    def _check(self, args: pulumi.ResourceHookArgs) -> None:
        """Allow the deletion of pools that are removed from the program or replaced: they are not registered at this
        time."""
        if self.protected and (args.urn in self._kept or not self._kept):
            raise RuntimeError("a protected cluster and its node pools are not deleted")


class GuardedRef(ClusterRef):
    """The reference of a `Cluster` for its node pools, in Python."""

    guard: NotRequired[DeletionGuard]
    """Keeps the pools while the cluster is protected."""


def guard_of(cluster: ClusterRef) -> DeletionGuard | None:
    """Return the guard of a cluster of this program; None for any other cluster, such as one of an exported `ref`."""
    guard = cast(GuardedRef, cluster).get("guard")
    return guard if isinstance(guard, DeletionGuard) else None
