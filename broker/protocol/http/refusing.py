"""What no agent may ask, whatever its token: it is refused before a message is read."""

from collections.abc import Mapping

from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from fledgling.broker.protocol import stdio
from fledgling.broker.protocol.http.listening import Listening

Paths = Mapping[str, tuple[str, ...]]
PATHS: Mapping[str, Paths] = {  # transport -> path -> methods
    "http": {"/mcp": ("GET", "POST", "DELETE")},
    "sse": {"/sse": ("GET",), "/messages/": ("POST",)},
}

# Headers that mean something here, and nothing clear if they stand twice; HTTP itself refuses a second Host or length.
SINGLE = (
    "origin",
    "authorization",
    "content-type",
    "content-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
)


class RequestRefused(Exception):
    """A request is not served: the status and the reason that go back."""

    def __init__(self, status: int, reason: str, answer: JSONRPCError | None = None, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answer = answer or JSONRPCError(
            jsonrpc="2.0", id=None, error=ErrorData(code=INVALID_REQUEST, message=reason)
        )

    def response(self) -> Response:
        """Return what goes back."""
        text = self.answer.model_dump_json(by_alias=True, exclude_unset=True)
        return Response(text, self.status, self.headers, media_type="application/json")


def check_head(scope: Scope, headers: Headers, listening: Listening, paths: Paths) -> None:
    """Refuse what no agent may ask, whatever its token."""
    target = scope["raw_path"].decode("latin-1")
    if not target.startswith("/"):  # an absolute one would count in place of Host
        raise RequestRefused(404, "nothing is served here; ask for a path", connection="close")
    if is_expecting(scope, headers) and (headers.getlist("expect") != ["100-continue"] or scope["method"] != "POST"):
        raise RequestRefused(417, "nothing is expected here but 100-continue, of a POST")
    if headers["host"].lower() not in listening.hosts:
        raise RequestRefused(421, "this Host is not served here")
    for name in SINGLE:
        if len(headers.getlist(name)) > 1:
            raise RequestRefused(400, f"{name} stands twice", connection="close")
    if "origin" in headers and headers["origin"].lower() not in listening.origins:
        raise RequestRefused(403, "this Origin is not served here")
    methods = paths.get(target)
    if methods is None:
        raise RequestRefused(404, "there is nothing here")
    if scope["method"] not in methods:
        raise RequestRefused(405, "not a method of this path", allow=", ".join(methods))


def is_expecting(scope: Scope, headers: Headers) -> bool:
    """Return whether the client may wait before it sends the body: then it is not known what comes after a refusal."""
    return "expect" in headers and scope["http_version"] != "1.0"


def token(headers: Headers, challenge: str) -> str:
    """Return the token of a request: `Authorization: Bearer TOKEN`, and nothing else."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        raise RequestRefused(401, "no token; send Authorization: Bearer TOKEN", www_authenticate=challenge)
    return given


def check_body_headers(headers: Headers) -> None:
    """Refuse a body of another kind, or one that says itself that it is too long."""
    kind, _, parameter = headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "application/json" or parameter.strip().replace('"', "") not in ("", "charset=utf-8"):
        raise RequestRefused(415, "Content-Type is not application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestRefused(415, "a body may not be encoded")
    if int(headers.get("content-length", 0)) > stdio.MAX_MESSAGE:  # HTTP has seen that it is a number
        raise RequestRefused(413, f"a body of more than {stdio.MAX_MESSAGE} bytes")
