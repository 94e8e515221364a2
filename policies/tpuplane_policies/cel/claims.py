"""Whom a comparison of a claim with a text admits, by the claims of `data/claims.yaml`."""

import re
from collections.abc import Sequence

from tpuplane_policies.cel.terms import Claim, Reach
from tpuplane_policies.core.registry import data

_GROUP = re.compile(r"(?<!\\)\((?:\?:)?((?:[^()\\\[\]]|\\.)*)\)(?![*+?{])")
_HEAD = re.compile(r"\^((?:[\w:@/-]|\\\W)*)(.*)", re.DOTALL)
_NOTHING = "(?!)"


def compared(claim: Claim, how: str, text: str, own: Sequence[str]) -> Reach:
    """A claim is a text (`whole`), or it begins or ends with the text. `own` are further claims with one owner."""
    known = data("claims")
    if claim.before:
        how, text = "begins", text + claim.before
    if claim.name in known["shared"]:
        return Reach.EVERYONE
    if claim.name not in known["owned"]:
        return Reach.OWNERS if claim.name in own and how == "whole" and text else Reach.UNDECIDED
    patterns = {"whole": ".+", "begins": _NOTHING, "ends": _NOTHING, **known["owned"][claim.name]}
    owned = {
        "whole": re.fullmatch(patterns["whole"], text) or re.match(patterns["begins"], text),
        "begins": re.match(patterns["begins"], text),
        "ends": re.search(f"({patterns['ends']})$", text),
    }
    if owned[how]:
        return Reach.OWNERS
    return Reach.UNDECIDED if how == "whole" else Reach.EVERYONE


def matched(claim: Claim, pattern: str, own: Sequence[str]) -> Reach:
    """A claim matches a regular expression: owned if each alternative is an owned text, or begins with one."""
    reaches = {_alternative(claim, it, own) for it in _alternatives(pattern)}
    return Reach.OWNERS if reaches == {Reach.OWNERS} else Reach.UNDECIDED


def _alternative(claim: Claim, pattern: str, own: Sequence[str]) -> Reach:
    head = _HEAD.fullmatch(pattern)
    if head is None or claim.before:
        return Reach.UNDECIDED
    literal, rest = head.groups()
    if rest[:1] in ("*", "?", "{"):  # the last character can be absent
        literal = re.sub(r"(\\.|.)$", "", literal)
    literal = re.sub(r"\\(.)", r"\1", literal)
    return compared(claim, "whole" if rest == "$" else "begins", literal, own)


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of a regular expression, with groups of alternatives multiplied out.

    A `|` that is not an alternative also divides: the rest does not start with `^`, and is not decided.
    """
    found = [pattern]
    for _ in range(8):
        found = [
            f"{it[: group.start()]}{part}{it[group.end() :]}" if group else part
            for it in found
            for group in [_GROUP.search(it)]
            for part in (group[1].split("|") if group else [it])
        ][:64]
    return [part for it in found for part in it.split("|")]
