"""Compute Engine through Google's client library: read-only, with one line for each failure."""

import os
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_SCOPE = "https://www.googleapis.com/auth/compute.readonly"


class Unreachable(Exception):
    """Google cannot be reached. The message has the reason and the remedy."""


class ComputeEngine:
    """Compute Engine of Google Cloud.

    Credentials: `GOOGLE_OAUTH_ACCESS_TOKEN`, else Application Default Credentials. As for the gcp provider,
    `GOOGLE_COMPUTE_CUSTOM_ENDPOINT` sets another address of the API.
    """

    def __init__(self) -> None:
        """Find credentials.

        Raises:
            Unreachable: if there are no credentials, or the client library is not installed.

        """
        try:
            from google.auth import default  # noqa: PLC0415 (an extra, and slow to import)
            from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415
            from google.oauth2.credentials import Credentials  # noqa: PLC0415
            from googleapiclient.discovery import build  # noqa: PLC0415
        except ImportError as error:
            raise Unreachable(f"{error.name} is not installed; run: pip install 'tpuplane[online]'") from None
        token = os.environ.get("GOOGLE_OAUTH_ACCESS_TOKEN")
        try:
            credentials = Credentials(token) if token else default(scopes=[_SCOPE])[0]  # type: ignore[no-untyped-call]
        except GoogleAuthError:
            raise Unreachable("no Google credentials; run: gcloud auth application-default login") from None
        endpoint = os.environ.get("GOOGLE_COMPUTE_CUSTOM_ENDPOINT")
        options = {"api_endpoint": endpoint} if endpoint else None
        # The client library contains the description of the API, so no other request is necessary.
        self._api = build("compute", "v1", credentials=credentials, client_options=options, cache_discovery=False)

    def reservation(self, project: str, zone: str, name: str) -> Json | None:
        """The reservation of the API; None if it does not exist, or if the user has no permission to see it."""
        return self._ask(self._api.reservations().get(project=project, zone=zone, reservation=name))

    def quotas(self, project: str, region: str) -> Mapping[str, float]:
        """Limits of the region by metric."""
        found = self._ask(self._api.regions().get(project=project, region=region))
        if found is None:
            raise Unreachable(f"Google has no region {region} for project {project}, or no such project")
        return {quota["metric"]: float(quota["limit"]) for quota in found.get("quotas", [])}

    def _ask(self, request: Any) -> Json | None:
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415
        from googleapiclient.errors import HttpError  # noqa: PLC0415

        try:
            answer: Json = request.execute(num_retries=2)
        except HttpError as error:
            if error.status_code == 404:
                return None
            raise Unreachable(f"Google answers {error.status_code}: {error.reason}") from None
        except GoogleAuthError as error:
            raise Unreachable(f"Google rejects the credentials: {error}") from None
        except OSError as error:
            raise Unreachable(f"Google does not answer: {error}") from None
        return answer
