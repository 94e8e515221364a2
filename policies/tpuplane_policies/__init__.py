"""The rules of the pack. Only `pack` and `stackconfig` know Pulumi's policy SDK; the rest are pure functions."""
