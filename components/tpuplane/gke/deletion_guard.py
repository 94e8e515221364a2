"""Protection of a cluster with `deletionProtection` against each way of deleting it."""

from typing import NotRequired, cast

import pulumi

from tpuplane.gke.arguments import ClusterRef


class DeletionGuard:
    """Rejects the deletion of a protected cluster before that of its node pools.

    Pulumi's own protection can be lifted in the state, and without a preview it is looked at when everything in the
    cluster is deleted already. A hook is kept in the state until an `up` with `deletionProtection: false`: `destroy`
    rejects a stack with hooks at once, and `up` deletes nothing whose hook the program no longer has.
    """

    def __init__(self, name: str, *, protected: bool) -> None:
        self._protected = protected
        self._kept: set[str] = set()
        self._cluster = ""
        # Where no program runs the engine shows only the name. Another name would be another hook to stacks of before.
        self._hook = pulumi.ResourceHook(
            f"{name} has deletionProtection: true; set it to false and run `pulumi up`, then delete it",
            self._check,
            pulumi.ResourceHookOptions(on_dry_run=True),
        )

    @property
    def hooks(self) -> pulumi.ResourceHookBinding | None:
        """Hooks of the cluster and of its pools."""
        return pulumi.ResourceHookBinding(before_delete=[self._hook]) if self._protected else None

    def watch_cluster(self, resource: pulumi.Resource) -> None:
        """Take note of the cluster."""
        resource.urn.apply(self._found_cluster)

    def watch_pool(self, resource: pulumi.Resource) -> None:
        """Take note of a pool that the program keeps."""
        resource.urn.apply(self._kept.add)

    def _found_cluster(self, urn: str) -> None:
        self._cluster = urn

    def _check(self, args: pulumi.ResourceHookArgs) -> None:
        """Let pools go that the program no longer has, or that are replaced: their registration has not ended."""
        if self._protected and (args.urn in (self._cluster, *self._kept) or not self._cluster):
            raise RuntimeError("nothing of a protected cluster is deleted with it")


class GuardedRef(ClusterRef):
    """A `Cluster` as its node pools know it, in Python."""

    guard: NotRequired[DeletionGuard]
    """What keeps the pools as long as the cluster is protected."""


def guard_of(cluster: ClusterRef) -> DeletionGuard | None:
    """Return the guard of a cluster of this program; None for a cluster that is only named."""
    return cast(GuardedRef, cluster).get("guard")
