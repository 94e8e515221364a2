"""What a program itself asks to wait for: the `pulumi.com/waitFor` annotation.

`jsonpath={.path}`, `jsonpath={.path}=value`, `condition=Type`, `condition=Type=Status`, or a JSON list of these.
"""

from __future__ import annotations

import json
from typing import Any

from tpuplane_twin.providers.kubernetes.awaiting.kstatus import Check, Verdict, View, condition, status
from tpuplane_twin.providers.kubernetes.metadata import generation


class WaitForError(ValueError):
    """An expression that cannot be waited for."""


def parse(annotation: str) -> Check:
    """The check that the annotation's value asks for. Raises `WaitForError`."""
    try:
        loaded = json.loads(annotation)
    except ValueError:
        loaded = annotation
    expressions = loaded if isinstance(loaded, list) else [annotation]
    if not expressions:
        raise WaitForError("at least one condition must be specified")
    checks = [_expression(str(expression)) for expression in expressions]

    def every(view: View) -> Verdict:
        verdicts = [check(view) for check in checks]
        return next((verdict for verdict in verdicts if not verdict.ready), verdicts[-1])

    return every


def _expression(text: str) -> Check:
    prefix, _, rest = text.partition("=")
    if prefix == "jsonpath":
        return _jsonpath(rest)
    if prefix == "condition":
        kind, _, wanted = rest.partition("=")
        return _condition(kind, wanted or "True")
    raise WaitForError(f'expected a "jsonpath=" or "condition=" prefix, got "{text}"')


def _condition(kind: str, wanted: str) -> Check:
    def check(view: View) -> Verdict:
        found = condition(view.live, kind)
        if not found:
            return Verdict(False, f"Waiting for condition {kind}={wanted}")
        observed = found.get("observedGeneration", status(view.live).get("observedGeneration"))
        if observed is not None and observed < generation(view.live):
            return Verdict(False, f"Generation {observed} is less than expected {generation(view.live)}")
        value = str(found.get("status"))
        ready = value.lower() == wanted.lower()
        return Verdict(ready, f"Resource has condition {kind}={value} (want {wanted})")

    return check


def _jsonpath(text: str) -> Check:
    import jsonpath_rfc9535  # noqa: PLC0415  (rarely needed)

    path, bracket, rest = text.rpartition("}")
    if not bracket or not path.startswith("{"):
        raise WaitForError(
            f"{text} should be wrapped in brackets {{ ... }}, for example jsonpath={{.status.phase}}=Ready"
        )
    if rest and (not rest.startswith("=") or rest == "="):
        raise WaitForError(f'format should be {{.path}}=value or {{.path}}, got "{text}"')
    wanted, query = rest[1:], path[1:].strip()
    try:
        compiled = jsonpath_rfc9535.compile(query if query.startswith("$") else f"${query}")
    except jsonpath_rfc9535.JSONPathError as error:
        raise WaitForError(f'parsing "{text}": {error}') from error

    def check(view: View) -> Verdict:
        observed = status(view.live).get("observedGeneration")
        if observed is not None and observed < generation(view.live):
            return Verdict(False, f"Waiting for {text}")
        nodes = compiled.find(view.live)
        if not nodes:
            return Verdict(False, f"{{{query}}} selected nothing")
        found = _text(nodes[0].value)
        return Verdict(not wanted or found == wanted, f'Waiting for {text} (found "{found}")')

    return check


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
