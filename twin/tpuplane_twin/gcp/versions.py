"""GKE versions: what the twin offers, and what "latest", "1.35" or "-" mean."""

from tpuplane.tpu import GkeVersion

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import NO_CHANNEL


def server_config() -> Json:
    """The answer of getServerConfig."""
    table = data("versions")
    newest = GkeVersion.parse(table["masters"][0])
    return {
        "defaultClusterVersion": table["default"],
        "validMasterVersions": table["masters"],
        "validNodeVersions": [version for version in table["nodes"] if GkeVersion.parse(version) <= newest],
        "defaultImageType": table["default_image_type"],
        "validImageTypes": table["image_types"],
        "channels": [
            {"channel": name, "defaultVersion": spec["default"], "validVersions": spec["valid"]}
            for name, spec in table["channels"].items()
        ],
    }


def check_channel(name: str) -> None:
    """Reject a release channel that GKE does not have."""
    known = data("versions")["channels"]
    if name not in (NO_CHANNEL, *known):
        raise invalid(f'Release channel "{name}" is not supported; allowed: {", ".join(known)}.')


def selected_channel(asked: str | None) -> str | None:
    """The channel of a new cluster that names none: the first with the requested version; None if none has it.

    Google's API, Cluster.releaseChannel.
    """
    table = data("versions")["channels"]
    if not asked or asked in ("-", "latest"):
        return None
    return next((name for name in ("STABLE", "REGULAR", "RAPID") if _resolve(asked, table[name]["valid"])), None)


def master_version(asked: str | None, channel: str | None) -> str:
    """The control-plane version that a request means. Empty or "-": the channel's default."""
    table = data("versions")
    every = table["channels"]["RAPID"]["valid"]
    offer = table["channels"].get(channel, {"default": table["default"], "valid": every})
    if not asked or asked == "-":
        return str(offer["default"])
    found = _resolve(asked, offer["valid"])
    if found is not None:
        return found
    if _resolve(asked, every) is not None:
        valid = ", ".join(offer["valid"])
        raise invalid(f'Master version must be one of "{channel}" channel supported versions [{valid}].')
    raise invalid(f'Master version "{asked}" is unsupported.')


def node_version(asked: str | None, master: str) -> str:
    """The node version that a request means. Empty or "-": the control plane's."""
    if not asked or asked == "-":
        return master
    found = _resolve(asked, data("versions")["nodes"])
    if found is None:
        raise invalid(f'Node version "{asked}" is unsupported.')
    if GkeVersion.parse(found) > GkeVersion.parse(master):
        raise invalid(f'Node version "{found}" must not have a greater version than master version "{master}".')
    return found


def image_type(asked: str) -> str:
    """The node image that a request means, in the form in which GKE shows it."""
    allowed: list[str] = data("versions")["image_types"]
    if asked.upper() not in allowed:
        raise invalid(f'Image type "{asked}" is not supported; allowed: {", ".join(allowed)}.')
    return asked.upper()


def _resolve(asked: str, valid: list[str]) -> str | None:
    """The newest valid version that `asked` names, whole or as a prefix ("1.35", "1.35.4")."""
    if asked == "latest":
        return valid[0]
    starts = (f"{asked}.", f"{asked}-gke.")
    return next((version for version in valid if version == asked or version.startswith(starts)), None)
