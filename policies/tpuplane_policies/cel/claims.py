"""Which identities a comparison of a claim with a text admits, by the claims of `data/claims.yaml`."""

import re
from collections.abc import Sequence

from tpuplane_policies.cel.terms import Claim, Reach
from tpuplane_policies.core.registry import data

_GROUP = re.compile(r"(?<!\\)\((?:\?:)?((?:[^()\\\[\]]|\\.)*)\)(?![*+?{])")
_HEAD = re.compile(r"\^((?:[\w:@/-]|\\\W)*)(.*)", re.DOTALL)
_NOTHING = "(?!)"


def compared(claim: Claim, how: str, text: str, own: Sequence[str]) -> Reach:
    """Which identities have this text in a claim: as its `whole` value, where it `begins`, or where it `ends`.

    `own` are further claims whose values belong to one owner.
    """
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
    """Which identities have a claim that matches: owners if each alternative is, or begins with, an owned text."""
    reaches = {_alternative(claim, alternative, own) for alternative in _alternatives(pattern)}
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

    A `|` inside a character class also divides. Its right part does not start with `^`, so it stays undecided.
    """
    texts = [pattern]
    for _ in range(8):
        texts = [
            f"{text[: group.start()]}{part}{text[group.end() :]}" if group else part
            for text in texts
            for group in [_GROUP.search(text)]
            for part in (group[1].split("|") if group else [text])
        ][:64]
    return [part for text in texts for part in text.split("|")]
