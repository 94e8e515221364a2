"""Options of the resources inside a component, which inherit only its providers and its protection."""

from collections.abc import Sequence

import pulumi


def after(opts: pulumi.ResourceOptions, resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    """Return these options for a resource that depends on other resources too."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(resources)))


def waiting_like(opts: pulumi.ResourceOptions | None, own: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return a child's own options, with the dependencies of its component."""
    return pulumi.ResourceOptions.merge(pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None), own)


def like(
    opts: pulumi.ResourceOptions | None, parent: pulumi.Resource, replace_on: Sequence[str] = ()
) -> pulumi.ResourceOptions:
    """Return the options of a component's only object: those of the component for its cluster and dependencies."""
    opts = opts or pulumi.ResourceOptions()
    return pulumi.ResourceOptions(
        parent=parent,
        provider=opts.provider,
        deleted_with=opts.deleted_with,
        replace_with=opts.replace_with,
        delete_before_replace=True,
        depends_on=opts.depends_on,
        replace_on_changes=list(replace_on) or None,
    )
