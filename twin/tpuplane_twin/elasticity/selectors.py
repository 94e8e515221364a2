"""Kubernetes' selectors: label selectors, node selectors, and the terms of pod affinity. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Labels = Mapping[str, str]
NAMESPACE_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression. `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt; an unknown one matches nothing."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether these labels satisfy it."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        try:
            found, bound = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return found > bound if self.operator == "Gt" else found < bound


Selector = tuple[Requirement, ...]
"""All of them must match; an empty one matches everything."""


def selects(selector: Selector, labels: Labels) -> bool:
    """Whether the selector matches these labels."""
    return all(requirement.matches(labels) for requirement in selector)


def label_selector(selector: Mapping[str, Any] | None) -> Selector | None:
    """A LabelSelector; None, which matches nothing, without one."""
    if selector is None:
        return None
    exact = sorted((selector.get("matchLabels") or {}).items())
    return (
        *(Requirement(key, "In", (value,)) for key, value in exact),
        *_requirements(selector.get("matchExpressions")),
    )


def node_selector(spec: Mapping[str, Any]) -> Selector:
    """A pod's `nodeSelector`."""
    return label_selector({"matchLabels": spec.get("nodeSelector")}) or ()


def node_affinity(affinity: Mapping[str, Any]) -> tuple[Selector, ...] | None:
    """The required terms of a pod's node affinity, of which one must match; None without any.

    The only supported field, `metadata.name`, is treated as a label.
    """
    required = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    terms = [
        (*_requirements(term.get("matchExpressions")), *_requirements(term.get("matchFields")))
        for term in required["nodeSelectorTerms"]
    ]
    # An empty term matches no node.
    return tuple(term for term in terms if term)


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One required term of pod affinity or anti-affinity: pods, and the topology key.

    Only the names of namespaces are known; a `namespaceSelector` for other labels matches none.
    """

    topology_key: str
    selector: Selector | None
    namespaces: frozenset[str]
    namespace_selector: Selector | None

    def matches(self, namespace: str, labels: Labels) -> bool:
        """Whether the term matches a pod with these labels in the namespace."""
        if self.selector is None or not selects(self.selector, labels):
            return False
        if namespace in self.namespaces:
            return True
        return self.namespace_selector is not None and selects(self.namespace_selector, {NAMESPACE_NAME: namespace})


def pod_terms(affinity: Mapping[str, Any], kind: str, namespace: str) -> tuple[PodTerm, ...]:
    """The required terms of `kind` (podAffinity or podAntiAffinity) of a pod in the namespace."""
    terms = affinity.get(kind, {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []
    return tuple(_pod_term(term, namespace) for term in terms)


def _pod_term(term: Mapping[str, Any], namespace: str) -> PodTerm:
    named = frozenset(term.get("namespaces") or [])
    chosen = label_selector(term.get("namespaceSelector"))
    if not named and chosen is None:
        named = frozenset({namespace})
    return PodTerm(term["topologyKey"], label_selector(term.get("labelSelector")), named, chosen)


def _requirements(expressions: list[Mapping[str, Any]] | None) -> Selector:
    return tuple(
        Requirement(item["key"], item["operator"], tuple(item.get("values") or ())) for item in expressions or []
    )
