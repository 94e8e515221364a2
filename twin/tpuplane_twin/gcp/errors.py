"""Google's error answers: one exception for handlers, two wire shapes (google.rpc for most services, Compute's own)."""

from __future__ import annotations

from typing import Any, Literal

ErrorStyle = Literal["rpc", "compute"]

# google.rpc status → (HTTP code, the `reason` that Google's classic clients print after the message)
_STATUS: dict[str, tuple[int, str]] = {
    "INVALID_ARGUMENT": (400, "badRequest"),
    "FAILED_PRECONDITION": (400, "failedPrecondition"),
    "UNAUTHENTICATED": (401, "authError"),
    "PERMISSION_DENIED": (403, "forbidden"),
    "NOT_FOUND": (404, "notFound"),
    "ALREADY_EXISTS": (409, "alreadyExists"),
    "ABORTED": (409, "aborted"),
    "INTERNAL": (500, "backendError"),
    "UNAVAILABLE": (503, "backendError"),
    "RESOURCE_EXHAUSTED": (507, "insufficientStorage"),
}


class ApiError(Exception):
    """An error answer with Google's message.

    `status` is a google.rpc code name; `reason` overrides the classic reason where Compute Engine uses another
    ("invalid", "resourceInUseByAnotherResource"); `violations` are (field, description) pairs of a BadRequest.
    """

    def __init__(
        self,
        status: str,
        message: str,
        *,
        reason: str | None = None,
        violations: tuple[tuple[str, str], ...] = (),
        http_code: int | None = None,
    ) -> None:
        super().__init__(message)
        code, default_reason = _STATUS[status]
        self.status = status
        self.message = message
        self.http_code = http_code or code
        self.reason = reason or default_reason
        self.violations = violations

    def body(self, style: ErrorStyle) -> dict[str, Any]:
        """The JSON body of the answer."""
        error: dict[str, Any] = {
            "code": self.http_code,
            "message": self.message,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
        }
        if style == "rpc":
            error["status"] = self.status
            if self.violations:
                error["details"] = [
                    {
                        "@type": "type.googleapis.com/google.rpc.BadRequest",
                        "fieldViolations": [{"field": field, "description": text} for field, text in self.violations],
                    }
                ]
        return {"error": error}


def invalid(message: str, **more: Any) -> ApiError:
    """400 INVALID_ARGUMENT."""
    return ApiError("INVALID_ARGUMENT", message, **more)


def failed_precondition(message: str) -> ApiError:
    """400 FAILED_PRECONDITION: a valid request that has to wait."""
    return ApiError("FAILED_PRECONDITION", message)


def not_found(message: str) -> ApiError:
    """404 NOT_FOUND."""
    return ApiError("NOT_FOUND", message)


def already_exists(message: str) -> ApiError:
    """409 ALREADY_EXISTS."""
    return ApiError("ALREADY_EXISTS", message)


def unavailable(message: str) -> ApiError:
    """503 UNAVAILABLE: a later request may be answered."""
    return ApiError("UNAVAILABLE", message)


def not_served(what: str) -> ApiError:
    """400: documented by Google, not served by the twin.

    Not 501, which clients retry for a long time, and not 404, which means a missing object.
    """
    return invalid(f"The twin does not serve {what}.", reason="notImplemented")
