"""What a container of a pod is as a process: its command, its environment, its files. Pure, as a kubelet does it."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from tpuplane.quantities import thousandths

from tpuplane_twin.cluster.api import Object

_REFERENCE = re.compile(r"\$(\$|\((?P<name>[^)]+)\))")


def command(container: Object, entrypoint: str, environment: Mapping[str, str]) -> list[str]:
    """The container's command and arguments, with its $(VARIABLES) put in."""
    parts = [*(container.get("command") or [entrypoint]), *container.get("args", ())]
    return [expand(part, environment) for part in parts]


def expand(text: str, environment: Mapping[str, str]) -> str:
    """`text` with $(NAME) replaced where NAME is known; $$ is a dollar."""

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        return "$" if name is None else environment.get(name, found[0])

    return _REFERENCE.sub(value, text)


def environment(
    pod: Object,
    container: Object,
    given: Mapping[str, str],
    keys: Mapping[tuple[str, str], Mapping[str, str]],
    allocatable: Mapping[str, str],
) -> dict[str, str]:
    """The container's environment: `given` by the cluster, then the container's variables, in their order.

    `allocatable` is what its node has for pods: the limit of who has none. `keys` are the texts of the ConfigMaps and
    Secrets, by kind and name, that `sources` asked for. What is not there and not optional raises `KeyError` with its
    name.
    """
    found = dict(given)
    for source in container.get("envFrom", ()):
        for kind in ("configMap", "secret"):
            if reference := source.get(f"{kind}Ref"):
                texts = _texts(keys, kind, reference)
                found |= {f"{source.get('prefix', '')}{key}": text for key, text in texts.items()}
    for entry in container.get("env", ()):
        origin = entry.get("valueFrom")
        if origin is None:
            found[entry["name"]] = expand(entry.get("value", ""), found)
        elif reference := origin.get("resourceFieldRef"):
            found[entry["name"]] = resource(pod, container, reference, allocatable)
        elif (value := _from(pod, origin, keys)) is not None:
            found[entry["name"]] = value
    return found


def sources(container: Object) -> set[tuple[str, str]]:
    """The ConfigMaps and Secrets that the container's environment needs: (configMap | secret, name)."""
    origins = [entry["valueFrom"] for entry in container.get("env", ()) if "valueFrom" in entry]
    references = [(kind, origin.get(f"{kind}KeyRef")) for origin in origins for kind in ("configMap", "secret")]
    for source in container.get("envFrom", ()):
        references += [(kind, source.get(f"{kind}Ref")) for kind in ("configMap", "secret")]
    return {(kind, str(reference["name"])) for kind, reference in references if reference}


def field(pod: Object, path: str) -> str:
    """A field of the pod as the downward API gives it ("metadata.name", "metadata.labels['a']")."""
    if match := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path):
        return str(pod["metadata"].get(match[1], {}).get(match[2], ""))
    value: Any = pod
    for step in path.split("."):
        value = value.get(step, "") if isinstance(value, dict) else ""
    if isinstance(value, dict):
        return "\n".join(f'{key}="{text}"' for key, text in sorted(value.items()))
    return str(value)


def resource(pod: Object, container: Object, reference: Object, allocatable: Mapping[str, str]) -> str:
    """A container's resource in the downward API: in units of the divisor, rounded up."""
    side, _, name = reference["resource"].partition(".")
    spec, named = pod["spec"], reference.get("containerName")
    others = (each for each in (*spec["containers"], *spec.get("initContainers", ())) if each["name"] == named)
    amount = next(others, container).get("resources", {}).get(side, {}).get(name)
    if amount is None and side == "limits":
        amount = allocatable.get(name)
    # The API server writes 0 where the divisor is missing.
    divisor = thousandths(reference.get("divisor", 0)) or 1000
    return str(math.ceil(thousandths(amount or 0) / divisor))


def restarts(pod: Object, code: int) -> bool:
    """Whether a container that ended with `code` is to be started again."""
    policy = pod["spec"].get("restartPolicy", "Always")
    return bool(policy == "Always" or (policy == "OnFailure" and code != 0))


def mounts(
    container: Object, environment: Mapping[str, str], place: Callable[[str, str], Path], read_only: Collection[str]
) -> list[Object]:
    """What the container mounts: `place` gives a path in a volume of its pod, `read_only` are names of volumes.

    Raises what that does, and `KeyError` where a `subPathExpr` names no variable.
    """
    return [
        {
            "source": str(place(mount["name"], _sub_path(mount, environment))),
            "target": mount["mountPath"],
            "readOnly": mount["name"] in read_only or mount.get("readOnly", False),
        }
        for mount in container.get("volumeMounts", ())
    ]


def _sub_path(mount: Object, environment: Mapping[str, str]) -> str:
    text = str(mount.get("subPathExpr", ""))
    for found in _REFERENCE.finditer(text):
        if found["name"] is not None and found["name"] not in environment:
            raise KeyError(f"volume {mount['name']}: subPathExpr {text}: the variable {found['name']} does not exist")
    return expand(text, environment) or str(mount.get("subPath", ""))


def _from(pod: Object, origin: Object, keys: Mapping[tuple[str, str], Mapping[str, str]]) -> str | None:
    if "fieldRef" in origin:
        return field(pod, origin["fieldRef"]["fieldPath"])
    for kind in ("configMap", "secret"):
        if reference := origin.get(f"{kind}KeyRef"):
            texts = _texts(keys, kind, reference)
            if reference["key"] in texts or reference.get("optional"):
                return texts.get(reference["key"])
            raise KeyError(f"couldn't find key {reference['key']} in {kind} {reference['name']}")
    return None


def _texts(keys: Mapping[tuple[str, str], Mapping[str, str]], kind: str, reference: Object) -> Mapping[str, str]:
    texts = keys.get((kind, reference["name"]))
    if texts is None and not reference.get("optional"):
        raise KeyError(f'{kind.lower()} "{reference["name"]}" not found')
    return texts or {}
