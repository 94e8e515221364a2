"""Stand-in for `pulumi-resource-gcp`: the resource types of the tpuplane components, against the twin's Google API.

The program, its state and the API cannot tell it from the official plugin: inputs are checked, compared and
sent by the same rules, which are data (`tables/*.json`), and requests leave in the same order.
"""
