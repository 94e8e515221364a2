"""PRJ007: whom a condition admits, compared with an evaluation of the condition for tokens of strangers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from celpy import CELEvalError, Environment, json_to_cel
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_policies.cel.terms import Reach

from tests.support.policies.conditions import EVERYONE, lines, reach

pytestmark = pytest.mark.policies

# Strangers with the values that a condition names, and an owner.
TEXTS = ("acme", "acme-labs", "acme/app", "refs/heads/main", "repo:acme/app:ref:refs/heads/main", "repo:acme/")


def stranger(ref: str, actor: str, owner: str) -> dict[str, Any]:
    sub = f"repo:{owner}/app:ref:{ref}"
    return {"repository_owner": owner, "repository": f"{owner}/app", "sub": sub, "ref": ref, "actor": actor}


STRANGERS = [
    stranger(ref, actor, owner)
    for ref in (*TEXTS, "other")
    for actor in (*TEXTS, "other")
    for owner in ("mallory", "acme-evil", "evilacme")
]
CLAIMS = ("repository_owner", "repository", "sub", "ref", "actor")
atoms = st.builds(
    str.format,
    st.sampled_from(
        [
            "assertion.{0} == '{1}'",
            "assertion.{0} != '{1}'",
            "assertion.{0}.startsWith('{1}')",
            "assertion.{0}.endsWith('{1}')",
            "assertion.{0}.contains('{1}')",
            "assertion.{0}.matches('^{1}')",
            "assertion.{0} in ['{1}', 'acme']",
            "['{1}'].exists(x, assertion.{0} == x)",
            "['{1}'].all(x, assertion.{0}.startsWith(x))",
            "'{1}' == 'acme'",
            "has(assertion.{0})",
            "('x' + assertion.{0}) == 'x{1}'",
        ]
    ),
    st.sampled_from(CLAIMS),
    st.sampled_from(TEXTS),
)
conditions = st.recursive(
    atoms,
    lambda below: st.one_of(
        st.builds("({} || {})".format, below, below),
        st.builds("({} && {})".format, below, below),
        st.builds("!({})".format, below),
        st.builds("({} ? {} : {})".format, below, below, below),
        st.builds("(({}) == {})".format, below, st.sampled_from(["true", "false"])),
    ),
    max_leaves=6,
)


def admits(condition: str, token: Mapping[str, Any]) -> bool:
    environment = Environment()
    program = environment.program(environment.compile(condition))
    try:
        return bool(program.evaluate({"assertion": json_to_cel(dict(token))}))
    except CELEvalError:
        return False  # Google denies a token whose condition has no value


@given(conditions)
def test_no_stranger_is_admitted_by_a_condition_that_passes(condition: str) -> None:
    if reach(condition) <= Reach.OWNERS:
        assert [candidate for candidate in STRANGERS[::11] if admits(condition, candidate)] == []


ON_SAMPLES = [
    line
    for line in lines(EVERYONE)
    if (names := set(re.findall(r"assertion\.(\w+)", line)))
    and names <= {*CLAIMS, "missing"}
    and "attribute" not in line
]
MORE = [
    stranger("refs/heads/main", "octocat", "zebra"),
    stranger("b", "evilacme", "evilacme"),
    stranger("b", "octocat", "evilacme") | {"sub": "repo:evilacme/x:environment:repo:acme/"},
    stranger("b", "octocat", "evilacme") | {"sub": "app"},
]


@pytest.mark.parametrize("condition", [on_sample for on_sample in ON_SAMPLES if "lowerAscii" not in on_sample])
def test_a_stranger_is_admitted_by_a_condition_that_fails(condition: str) -> None:
    assert any(admits(condition, each_stranger) for each_stranger in (*STRANGERS, *MORE))
