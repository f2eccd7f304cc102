"""The sidecar's HTTP, and nothing of elections: requests with a time limit, and the stream of events."""

from __future__ import annotations

import http.client
import json
import os
import socket
from typing import Any, Callable, Dict, Mapping, Optional, Tuple
from urllib.parse import quote, urlsplit

from .errors import SidecarError, SidecarUnreachable


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Sidecar:
    """Where the sidecar is.

    url: ``http://host:port``, ``https://…``, or ``unix:///path/of/socket``. Default: what the environment says in TENURE_URL,
        else ``http://127.0.0.1:2182``.
    token: the bearer token, where the sidecar isn't on loopback.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None) -> None:
        url = url or os.environ.get("TENURE_URL") or "http://127.0.0.1:2182"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix") or (parts.scheme == "unix") == bool(parts.netloc):
            raise ValueError(f"url {url!r}: http://host:port, https://host:port or unix:///path is expected")
        self.url = url
        self._parts = parts
        self._headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}

    def view(self, election: str, timeout: float = 5.0) -> Dict[str, Any]:
        """The election as it is seen now: for showing, never a licence to act. Raises SidecarError, SidecarUnreachable."""
        line = self.line()
        try:
            return line.request("GET", f"/v1/elections/{encode(election)}", timeout=timeout)[1]
        finally:
            line.close()

    def line(self) -> "Line":
        return Line(self)

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        parts = self._parts
        if parts.scheme == "unix":
            return _UnixConnection(parts.path, timeout)
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return make(parts.hostname or "", parts.port, timeout=timeout)


def encode(name: str) -> str:
    """The name as one segment of a path, or one value of a query."""
    return quote(name, safe="")


class Line:
    """A connection that is kept while it works. For one thread, but for ``interrupt()``."""

    def __init__(self, sidecar: Sidecar) -> None:
        self._sidecar = sidecar
        self._connection: Optional[http.client.HTTPConnection] = None
        # Also while the connection has handed it to a response.
        self._socket: Optional[socket.socket] = None
        self._interrupted = False

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Mapping[str, str] = {},
        timeout: float = 5.0,
    ) -> Tuple[int, Dict[str, Any]]:
        """The status and the body of an answer that says yes. Raises SidecarError for one that says no."""
        response = self._send(method, path, body, headers, timeout)
        try:
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise SidecarUnreachable(f"{self._sidecar.url}: {error!r}") from error
        answer = _object(data)
        if response.status >= 400:
            raise _refusal(response, answer)
        return response.status, answer

    def events(
        self,
        path: str,
        headers: Mapping[str, str],
        silence: float,
        each: Callable[[str, Dict[str, Any]], None],
    ) -> None:
        """Reads events until the stream ends or is silent for so many seconds. Raises as ``request``."""
        response = self._send("GET", path, None, {**headers, "Accept": "text/event-stream"}, silence)
        if response.status != 200:
            answer = _object(response.read())
            self.close()
            raise _refusal(response, answer)
        try:
            name, data = "message", []
            while True:
                line = response.readline()
                if not line or self._interrupted:
                    return
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                field, _, value = text.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if field == "event":
                    name = value
                elif field == "data":
                    data.append(value)
                elif text == "":
                    if data:
                        each(name, _object("\n".join(data).encode()))
                    name, data = "message", []
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise SidecarUnreachable(f"{self._sidecar.url}: {error!r}") from error
        finally:
            self.close()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        """Ends the reading of events, from another thread, for good. That thread closes the connection itself."""
        self._interrupted = True
        opened = self._socket
        if opened is not None:
            try:
                opened.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended already.

    def _send(
        self, method: str, path: str, body: Optional[Mapping[str, Any]], headers: Mapping[str, str], timeout: float
    ) -> http.client.HTTPResponse:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._sidecar._connect(timeout)
        try:
            if connection.sock is None:
                connection.connect()
            sock = self._socket = connection.sock
            sock.settimeout(timeout)
            data = None if body is None else json.dumps(body).encode()
            kind = {} if data is None else {"Content-Type": "application/json"}
            connection.request(method, path, data, {**self._sidecar._headers, **kind, **headers})
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise SidecarUnreachable(f"{self._sidecar.url}: {error!r}") from error


def _object(data: bytes) -> Dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):  # Metadata of others may be nested deeper than this language reads.
        return {}
    return value if isinstance(value, dict) else {}


def _refusal(response: http.client.HTTPResponse, answer: Mapping[str, Any]) -> SidecarError:
    try:
        retry_after: Optional[float] = float(response.getheader("Retry-After") or "")
    except ValueError:
        retry_after = None
    code, detail = answer.get("code"), answer.get("detail") or answer.get("title") or ""
    return SidecarError(response.status, str(code or f"http_{response.status}"), str(detail), retry_after)
