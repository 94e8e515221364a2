"""Resource options that several components share."""

import pulumi


def waiting_like(opts: pulumi.ResourceOptions | None, own: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return a child's own options, so that it waits for what its component was told to wait for.

    Pulumi does not hand `depends_on` down: it holds for the component's own registration alone.
    """
    return pulumi.ResourceOptions.merge(pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None), own)
