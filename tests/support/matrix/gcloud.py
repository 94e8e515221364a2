"""The commands of gcloud that a user types, as requests to Google's API."""

from __future__ import annotations

from urllib.parse import quote

from tests.support.providers.google_api import GoogleApi


def delete(words: list[str], api: GoogleApi) -> None:
    """What `gcloud GROUP VERB NAME --option=VALUE …` does, for the commands of the check."""
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word)
    *group, verb, name = [word for word in words[1:] if not word.startswith("--")]
    if verb == "remove-iam-policy-binding":
        policy = api.ask("POST", f"/crm/v1/projects/{name}:getIamPolicy", {})
        (binding,) = (binding for binding in policy["bindings"] if binding["role"] == options["role"])
        binding["members"].remove(options["member"])
        api.ask("POST", f"/crm/v1/projects/{name}:setIamPolicy", {"policy": policy})
    elif group == ["compute", "routers", "nats"]:
        router = "/compute/v1/projects/{project}/regions/{region}/routers/{router}".format_map(options)
        nats = [nat for nat in api.ask("GET", router).get("nats", ()) if nat["name"] != name]
        api.ask("PATCH", router, {"nats": nats})
    else:
        path = _PATHS[" ".join(group)].format(**options, name=name, quoted=quote(name, safe=""))
        api.ask("POST" if verb == "destroy" else "DELETE", path, {} if verb == "destroy" else None)


_PATHS = {
    "container clusters": "/v1/projects/{project}/locations/{location}/clusters/{name}",
    "container node-pools": "/v1/projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
    "compute networks": "/compute/v1/projects/{project}/global/networks/{name}",
    "compute networks subnets": "/compute/v1/projects/{project}/regions/{region}/subnetworks/{name}",
    "compute routers": "/compute/v1/projects/{project}/regions/{region}/routers/{name}",
    "compute resource-policies": "/compute/v1/projects/{project}/regions/{region}/resourcePolicies/{name}",
    "iam service-accounts": "/iam/v1/projects/{project}/serviceAccounts/{name}",
    "kms keys versions": "/kms/v1/projects/{project}/locations/{location}/keyRings/{keyring}/cryptoKeys/{key}"
    "/cryptoKeyVersions/{name}:destroy",
    "logging metrics": "/logging/v2/projects/{project}/metrics/{quoted}",
    "monitoring dashboards": "/monitoring/v1/{name}",
    "monitoring policies": "/monitoring/v3/{name}",
}
