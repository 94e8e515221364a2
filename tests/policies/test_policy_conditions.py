"""PRJ007: whom a condition of workload identity federation admits, compared with an evaluation of the condition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from case_files import a_run, resource
from celpy import CELEvalError, Environment, json_to_cel
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_policies.cel.branches import Reach, admitted
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.values import UNKNOWN, Value

pytestmark = pytest.mark.policies

MAPPING = {
    "google.subject": "assertion.sub",
    "google.groups": "assertion.groups",
    "attribute.repository": "assertion.repository",
    "attribute.owner": "assertion.repository.split('/')[0]",
    "attribute.ref": "assertion.ref",
    "attribute.role": "assertion.repository_owner == 'acme' ? 'admin' : 'none'",
    "attribute.broken": "assertion.ref == 'refs/heads/main' ? 'admin' : 'none'",
    "attribute.pair": "'at:' + assertion.repository + '@x'",
}
EVERYONE = """
true
1 == 1
'a' == 'a'
size('a') < 2
!false
assertion.sub != ''
assertion.sub == assertion.sub
assertion.sub.size() > 0
size(assertion.sub) > 0
has(assertion.sub)
!has(assertion.missing)
assertion.sub.contains('acme')
assertion.sub.contains('repo:acme/')
assertion.sub.endsWith(':ref:refs/heads/main')
assertion.sub.startsWith('')
assertion.sub.startsWith('repo:')
assertion.sub.startsWith('repo:acme')
assertion.sub.startsWith('repo:acm')
assertion.repository.startsWith('acme')
assertion.repository_owner.startsWith('acme')
assertion.repository_owner.endsWith('acme')
assertion.repository_owner != 'evil'
!(assertion.repository_owner == 'evil')
!(assertion.repository_owner in ['evil', 'mallory'])
!assertion.sub.startsWith('repo:evil/')
!['evil'].exists(o, o == assertion.repository_owner)
assertion.repository_owner > 'acme'
assertion.repository_owner == assertion.actor
assertion.iss == 'https://token.actions.githubusercontent.com'
assertion['iss'] == 'https://token.actions.githubusercontent.com'
assertion.aud == 'https://github.com/acme'
'sts' in assertion.aud
assertion.ref == 'refs/heads/main'
assertion.ref in ['refs/heads/main', 'refs/heads/release']
assertion.event_name == 'push' && assertion.ref == 'refs/heads/main'
assertion.environment == 'prod'
assertion.actor == 'octocat'
attribute.ref == 'refs/heads/main'
google.subject != ''
google.subject.startsWith('repo:acme')
attribute.repository.startsWith('acme')
attribute.owner.startsWith('acme')
attribute.broken == 'admin'
attribute.role == 'none'
attribute.role != 'admin'
assertion.repository_owner == 'acme' || true
assertion.repository_owner == 'acme' || 1 == 1
true || assertion.repository_owner == 'acme'
assertion.repository_owner == 'acme' || assertion.ref == 'refs/heads/main'
(assertion.repository_owner == 'acme' && assertion.ref == 'a') || (assertion.ref == 'b')
assertion.repository_owner == 'acme' ? true : assertion.ref == 'refs/heads/main'
has(assertion.repository_owner) ? assertion.repository_owner != 'evil' : false
(assertion.repository_owner == 'acme') == false
(assertion.repository_owner == 'acme') != true
!(assertion.repository_owner == 'acme' && assertion.ref == 'refs/heads/main')
assertion.repository_owner.lowerAscii() != 'evil'
assertion.namespace_path.startsWith('acme')
assertion.email.endsWith('acme.example')
assertion.email_verified
assertion.email_verified == true
[].all(x, assertion.repository_owner == x)
assertion.repository == assertion.repository_owner + '/' + assertion.sub
assertion.arn.startsWith('arn:aws:sts::')
"""
OWNERS = """
assertion.repository_owner == 'acme'
'acme' == assertion.repository_owner
assertion.repository_owner_id == '1234'
assertion['repository_owner'] == 'acme'
assertion.repository_owner == 'ac' + 'me'
assertion.repository == 'acme/app'
assertion.repository in ['acme/app', 'acme/lib']
assertion.repository in {'acme/app': true}
assertion.repository.startsWith('acme/')
assertion.repository.lowerAscii().startsWith('acme/')
string(assertion.repository_id) == '42'
assertion.repository.split('/')[0] == 'acme'
assertion.repository.extract('{owner}/') == 'acme'
'repo:' + assertion.repository == 'repo:acme/app'
('repo:' + assertion.repository + ':x') == 'repo:acme/app:x'
('repo:' + assertion.repository).startsWith('repo:acme/')
assertion.sub == 'repo:acme/app:ref:refs/heads/main'
assertion.sub.startsWith('repo:acme/')
assertion.sub.startsWith('repo:acme/app:environment:prod')
assertion.sub.startsWith("repo:acme/")
assertion.sub.matches('^repo:acme/')
assertion.sub.matches('^repo:acme/app:.*$')
assertion.sub.matches('^repo:acme\\\\/(app|lib):ref:refs/heads/main$')
assertion.sub.matches(r'^repo:(acme|acme-labs)/')
assertion.repository_owner.matches('^(acme|acme-labs)$')
['acme', 'acme-labs'].exists(o, assertion.repository_owner == o)
['acme/', 'acme-labs/'].exists(o, assertion.sub.startsWith('repo:' + o))
!(assertion.repository_owner != 'acme')
!(assertion.repository_owner != 'acme' || assertion.ref != 'refs/heads/main')
!!(assertion.repository_owner == 'acme')
(assertion.repository_owner == 'acme') == true
(assertion.repository_owner == 'acme') != false
assertion.repository_owner == 'acme' && assertion.ref == 'refs/heads/main'
assertion.ref == 'refs/heads/main' && assertion.repository_owner == 'acme' && assertion.event_name != 'x'
has(assertion.repository_owner) && assertion.repository_owner == 'acme'
has(assertion.repository_owner) ? assertion.repository_owner == 'acme' : false
assertion.ref == 'refs/heads/main' ? assertion.repository_owner == 'acme' : assertion.repository == 'acme/app'
assertion.repository_owner == 'acme' || assertion.repository_owner == 'acme-labs'
assertion.repository_owner == 'acme' || false
false
google.subject.startsWith('repo:acme/')
attribute.repository == 'acme/app'
attribute['repository'] == 'acme/app'
attribute.owner == 'acme'
attribute.role == 'admin'
attribute.pair == 'at:acme/app@x'
'admins' in google.groups
google.groups.exists(g, g == 'admins')
assertion.groups.exists(g, g in ['admins', 'ops'])
assertion.namespace_path == 'acme'
assertion.project_path.startsWith('acme/')
assertion.terraform_organization_name == 'acme'
assertion['oidc.circleci.com/org-id'] == 'uuid'
assertion['kubernetes.io']['namespace'] == 'ml'
assertion.sub == 'system:serviceaccount:ml:trainer'
assertion.sub == 'organization:acme:project:ml:workspace:prod:run_phase:apply'
assertion.sub == '102938475610293847561'
assertion.email == 'a@acme.example'
assertion.email.endsWith('@acme.example')
assertion.account == '123456789012'
assertion.arn.startsWith('arn:aws:sts::123456789012:assumed-role/deployer')
"""
UNDECIDED = r"""
assertion.department == 'ml'
assertion.sub == 'environment:prod'
assertion.sub.matches('acme')
assertion.sub.matches('^repo:acme')
assertion.sub.matches('^repo:acme/?x')
assertion.sub.matches('^repo:acme/|evil')
assertion.sub.matches('^repo:acme/\\\\|evil')
assertion.sub.matches('^(repo:acme/)?x')
assertion.sub.matches('^(repo:acme/|)x')
assertion.sub.matches('(?m)^repo:acme/')
assertion.sub.matches('^(repo:acme/|repo:)x')
assertion.sub.matches(assertion.ref)
assertion.job_workflow_ref == 'acme/ci/.github/workflows/deploy.yml@refs/heads/main'
attribute.unmapped == 'acme'
assertion.repository.replace('a', 'b') == 'acme/app'
assertion.sub.substring(0, 10) == 'repo:acme/'
assertion.sub.split(':')[1] == 'acme/app'
is_own(assertion.sub)
assertion.repository_owner == ''
assertion.repository_owner ==
assertion.ref == 'main' && assertion.department == 'ml'
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def reach(condition: str, **options: Any) -> Reach:
    return admitted(condition, Value(MAPPING, "attributeMapping"), **options).reach


@pytest.mark.parametrize("condition", lines(EVERYONE))
def test_a_condition_that_admits_strangers(condition: str) -> None:
    assert reach(condition) is Reach.EVERYONE
    [found] = judged(condition)
    assert "admits users of other organizations" in found


@pytest.mark.parametrize("condition", lines(OWNERS))
def test_a_condition_that_admits_owners_alone(condition: str) -> None:
    assert reach(condition) <= Reach.OWNERS
    assert judged(condition) == []


@pytest.mark.parametrize("condition", lines(UNDECIDED))
def test_a_condition_that_is_not_decided(condition: str) -> None:
    assert reach(condition) is Reach.UNDECIDED
    assert judged(condition) == ["undecided"]


def judged(condition: str, **props: Any) -> list[str]:
    """The messages of the rule, or that it is undecided."""
    rule = next(it for it in rules() if it.id == "PRJ007")
    it = resource({"of": "wif", "with": {"attributeCondition": condition, "attributeMapping": MAPPING, **props}})
    run = a_run()
    found = [text for violation in run.resource(rule, it) for text in violation.text.splitlines() if text]
    return ["undecided"] if run.undecided else found


def test_a_provider_without_a_condition_has_one_message() -> None:
    [found] = judged(None)
    assert found.startswith("attributeCondition is not set: every user of the identity provider has access. Remedy: ")


def test_the_message_names_the_branch() -> None:
    [found] = judged("assertion.repository_owner == 'acme' || assertion.ref == 'refs/heads/main'")
    assert ": assertion.ref == 'refs/heads/main' admits users of other organizations. Remedy: " in found


def test_an_unknown_mapping_is_needed_or_not() -> None:
    mapping = {"attributeMapping": {"attribute.repository": "UNKNOWN"}}
    assert judged("attribute.repository == 'acme/app'", **mapping) == ["undecided"]
    assert judged("assertion.repository == 'acme/app'", **mapping) == []
    assert len(judged("attribute.repository == 'acme/app' || true", **mapping)) == 1
    whole = admitted("attribute.repository == 'a/b'", Value(UNKNOWN, "attributeMapping"))
    assert (whole.reach, [it.path for it in whole.unknown]) == (Reach.UNDECIDED, ["attributeMapping"])


def test_aws_has_a_mapping_of_its_own() -> None:
    condition = "attribute.aws_role == 'arn:aws:sts::123456789012:assumed-role/deployer'"
    subject = "google.subject.startsWith('arn:aws:sts::123456789012:assumed-role/deployer/')"
    assert admitted(subject, Value(None), aws=True).reach is Reach.OWNERS
    assert admitted(subject, Value(None)).reach is Reach.UNDECIDED
    assert admitted(condition, Value(None), aws=True).reach is Reach.UNDECIDED


def test_claims_of_an_own_identity_provider_are_configured() -> None:
    assert reach("assertion.department == 'ml'", own=["department"]) is Reach.OWNERS
    assert reach("assertion.department.startsWith('ml')", own=["department"]) is Reach.UNDECIDED
    assert reach("assertion.department == ''", own=["department"]) is Reach.UNDECIDED


def test_a_long_condition_is_decided_or_undecided_in_time() -> None:
    one = "assertion.repository_owner == 'acme'"
    assert reach(" || ".join([one] * 100)) is Reach.OWNERS
    assert reach(" || ".join([one] * 100 + ["true"])) is Reach.EVERYONE
    assert reach("!" * 3000 + f"({one})") is Reach.UNDECIDED
    assert reach("(" * 400 + one + ")" * 400) in (Reach.OWNERS, Reach.UNDECIDED)


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
        assert [it for it in STRANGERS[::11] if admits(condition, it)] == []


ON_SAMPLES = [
    it
    for it in lines(EVERYONE)
    if (names := set(re.findall(r"assertion\.(\w+)", it))) and names <= {*CLAIMS, "missing"} and "attribute" not in it
]
MORE = [
    stranger("refs/heads/main", "octocat", "zebra"),
    stranger("b", "evilacme", "evilacme"),
    stranger("b", "octocat", "evilacme") | {"sub": "repo:evilacme/x:environment:repo:acme/"},
    stranger("b", "octocat", "evilacme") | {"sub": "app"},
]


@pytest.mark.parametrize("condition", [it for it in ON_SAMPLES if "lowerAscii" not in it])
def test_a_stranger_is_admitted_by_a_condition_that_fails(condition: str) -> None:
    assert any(admits(condition, it) for it in (*STRANGERS, *MORE))
