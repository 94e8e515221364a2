"""Conditions of workload identity federation, by whom they admit."""

from __future__ import annotations

from typing import Any

from tpuplane_policies.cel.branches import admitted
from tpuplane_policies.cel.terms import Reach
from tpuplane_policies.core.values import Value

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
assertion.email.endsWith('@gmail.com')
assertion.email.endsWith('@outlook.de')
assertion.email.endsWith('@yahoo.co.uk')
assertion.email.endsWith('@developer.gserviceaccount.com')
assertion.email.endsWith('gserviceaccount.com')
assertion.groups.all(g, g == 'admins')
!assertion.groups.exists(g, g == 'guests')
!assertion.groups.exists_one(g, g != 'admins')
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
!assertion.groups.all(g, g != 'admins')
assertion.google.compute_engine.project_id == 'acme-prod'
assertion.email.endsWith('@acme-prod.iam.gserviceaccount.com')
assertion.tid == '11111111-2222-3333-4444-555555555555'
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
assertion.tid == '9188040d-6c67-4c5b-b112-36a304b66dad'
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
