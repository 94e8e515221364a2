"""Google's APIs through Google's client library: read-only, with one line for each failure."""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.client import HTTPException
from typing import Any

from tpuplane.data_files import read_data

Json = dict[str, Any]

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"  # Kubernetes Engine has no narrower one
_LOGIN = "run: gcloud auth application-default login"
_TOKEN = "GOOGLE_OAUTH_ACCESS_TOKEN"  # noqa: S105 (the name of a variable)


class Unreachable(Exception):
    """No request to Google is possible. The message has the reason and the remedy."""


class Undecided(Exception):
    """Google rejects a question, for example without a permission. The message has the reason.

    `remedy` is empty if the remedy is a permission.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class UnknownForm(Undecided):
    """Google answers in a form that this version cannot read."""

    def __init__(self, error: Exception) -> None:
        message = f"Google's answer has an unknown form ({type(error).__name__}: {error})"
        super().__init__(message, "compare it in Google's console, or update tpuplane")


@contextmanager
def reading() -> Iterator[None]:
    """Raise `UnknownForm` for errors of the lines that read an answer."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnknownForm(error) from None


def of_project(answer: Json | None, project: str) -> Json:
    """The answer about a project. Raises `Undecided` if Google finds no such project."""
    if answer is None:
        raise Undecided(f"Google finds no project {project}", "correct its id, or ask for access to it")
    return answer


class Google:
    """The APIs of Google Cloud.

    Credentials: `GOOGLE_OAUTH_ACCESS_TOKEN`, else Application Default Credentials. As in the gcp provider, variables
    such as `GOOGLE_COMPUTE_CUSTOM_ENDPOINT` set other addresses of the APIs.
    """

    def __init__(self) -> None:
        """Find credentials. Raises `Unreachable` without them, or without the client library."""
        # Google's client warns that it will stop supporting old Python versions. The user cannot change that here.
        warnings.filterwarnings("ignore", category=FutureWarning, module="google")
        try:
            from google.auth import default  # noqa: PLC0415 (an extra, and slow to import)
            from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415
            from google.oauth2.credentials import Credentials  # noqa: PLC0415
            from googleapiclient.discovery import build, build_from_document  # noqa: PLC0415
        except ImportError as error:
            raise Unreachable(f"{error.name} is not installed; run: pip install 'tpuplane[online]'") from None
        token = os.environ.get(_TOKEN)
        self._login = f"set another {_TOKEN}, or unset it" if token else _LOGIN
        try:
            credentials = Credentials(token) if token else default(scopes=[_SCOPE])[0]  # type: ignore[no-untyped-call]
        except GoogleAuthError:
            raise Unreachable(f"no Google credentials; {_LOGIN}") from None

        @cache
        def built(api: str, version: str) -> Any:
            options = {"api_endpoint": endpoint} if (endpoint := _endpoint(api)) else None
            # The client library contains the descriptions of nearly all APIs, so no other request is necessary.
            if own := read_data("tpuplane.preflight", "needs")["documents"].get(api):
                return build_from_document(own, credentials=credentials, client_options=options)
            return build(api, version, credentials=credentials, client_options=options, cache_discovery=False)

        self._built = built

    def ask(self, method: str, **arguments: Any) -> Json | None:
        """The answer to a method such as `compute.v1.networks.get`; None if Google finds no such object.

        Raises `Undecided` if Google rejects the request, and `Unreachable` if it does not answer or rejects the
        credentials.
        """
        from google.auth.exceptions import GoogleAuthError, TransportError  # noqa: PLC0415
        from googleapiclient.errors import HttpError  # noqa: PLC0415
        from httplib2.error import HttpLib2Error  # type: ignore[import-untyped]  # noqa: PLC0415

        api, version, *path, verb = method.split(".")
        resource = self._built(api, version)
        for part in path:
            resource = getattr(resource, part)()
        request = getattr(resource, verb)(**arguments)
        try:
            answer = request.execute(num_retries=2)
        except HttpError as error:
            if error.status_code == 404:
                return None
            if error.status_code == 401:
                raise Unreachable(f"Google rejects the credentials: {error.reason}; {self._login}") from None
            raise Undecided(f"Google answers {error.status_code}: {' '.join(error.reason.split())}") from None
        except (OSError, HTTPException, HttpLib2Error, TransportError) as error:
            raise Unreachable(f"Google does not answer: {error}; check the network and the proxy") from None
        except GoogleAuthError as error:
            raise Unreachable(f"Google rejects the credentials: {error}; {self._login}") from None
        except ValueError as error:
            raise UnknownForm(error) from None
        if not isinstance(answer, dict):
            raise UnknownForm(TypeError("not a JSON object"))
        return answer

    def pages(self, method: str, **arguments: Any) -> Iterator[Json]:
        """The pages of a list. Raises as `ask` does."""
        page: dict[str, str] | None = {}
        while page is not None:
            answer = self.ask(method, **arguments, **page) or {}
            yield answer
            page = {"pageToken": answer["nextPageToken"]} if answer.get("nextPageToken") else None


def _endpoint(api: str) -> str | None:
    """The address that replaces Google's. Only for Compute Engine it includes the version of the API."""
    name = read_data("tpuplane.preflight", "needs")["endpoints"][api]
    found = os.environ.get(f"GOOGLE_{name}_CUSTOM_ENDPOINT")
    return found if not found or api == "compute" else re.sub(r"v\d\w*/?$", "", found)
