"""The rules of the pack. Only `pack` knows Pulumi's policy SDK; the rest is pure."""
