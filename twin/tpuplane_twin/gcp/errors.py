"""Google's error answers: one exception for handlers, two wire shapes (google.rpc for most services, Compute's own)."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from tpuplane_twin.gcp.data_files import data

ErrorStyle = Literal["rpc", "compute"]


class ApiError(Exception):
    """An error answer with Google's message.

    `status` is a google.rpc code name; `reason` overrides the classic reason where Compute Engine uses another
    ("invalid", "resourceInUseByAnotherResource"); `details` are google.rpc messages; `headers` are of the answer.
    """

    def __init__(
        self,
        status: str,
        message: str,
        *,
        reason: str | None = None,
        details: tuple[dict[str, Any], ...] = (),
        http_code: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        code, default_reason = data("kinds")["statuses"][status]
        self.status = status
        self.message = message
        self.http_code = http_code or code
        self.reason = reason or default_reason
        self.details = details
        self.headers = headers

    def body(self, style: ErrorStyle) -> dict[str, Any]:
        """The JSON body of the answer."""
        error: dict[str, Any] = {
            "code": self.http_code,
            "message": self.message,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        if style == "rpc":
            error["status"] = self.status
            if self.details:
                error["details"] = list(self.details)
        return {"error": error}


invalid = partial(ApiError, "INVALID_ARGUMENT")
failed_precondition = partial(ApiError, "FAILED_PRECONDITION")
"""For a valid request that has to wait."""
not_found = partial(ApiError, "NOT_FOUND")
already_exists = partial(ApiError, "ALREADY_EXISTS")
unavailable = partial(ApiError, "UNAVAILABLE")
"""For a request that may succeed later."""


def not_served(what: str) -> ApiError:
    """400: documented by Google, not served by the twin.

    Not 501, which clients retry for a long time, and not 404, which means a missing object.
    """
    return invalid(f"The twin does not serve {what}.", reason="notImplemented")
