"""The part of the protocol that has no language: names and their order, tokens, records. See docs/protocol.md.

For those who stand in the queue by themselves, over their own ZooKeeper client. Candidates of the sidecar need none of it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional

MAX_TOKEN = 2**63 - 1
CANDIDATE_MAX_BYTES = 8192

_SEQUENCE = re.compile(r"(?:(?<=-)-[0-9]{10}|[0-9]{10}|-[0-9]{9})\Z")
_DECIMAL = re.compile(r"[1-9][0-9]{0,18}\Z")
_FLOOR = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]")
_RESERVED = {"queue", "term", "history", "sessions", ".", "..", "zookeeper"}
_ENDS = {"resigned", "paused", "transferred", "evicted", "died", "vanished"}
_SAFE = 2**53 - 1


def sequence(node: str) -> Optional[int]:
    """A candidate's number, or None where the name has none: such a node is no candidate."""
    found = _SEQUENCE.search(node)
    return int(found.group()) if found else None


def in_order(nodes: Iterable[str]) -> List[str]:
    """The candidates among the nodes, first come first."""
    numbered = [(number, node) for node in nodes for number in [sequence(node)] if number is not None]
    return [node for _, node in sorted(numbered, key=lambda one: (one[0], one[1].encode("utf-16-be", "surrogatepass")))]


def parse_token(text: Any) -> int:
    """Raises ValueError for anything but the decimal text of a number from 1 to 2**63 - 1."""
    if not isinstance(text, str) or not _DECIMAL.match(text) or int(text) > MAX_TOKEN:
        raise ValueError(f"{text!r} is not a fencing token")
    return int(text)


def token_of(floor: int, czxid: int) -> int:
    """The token of a candidate: the floor of the term record, and the transaction that created its node."""
    return parse_token(str(floor + czxid))


def queue_path(election: str, root: str = "/tenure") -> str:
    """Where the candidates of an election are, below the chroot. Raises ValueError for what can't be a name."""
    segments = election.split("/")
    # ZooKeeper counts UTF-16 code units, and so does the limit; but none of the names that have two for one is allowed.
    if len(election) > 256 or _FORBIDDEN.search(election) or "" in segments or _RESERVED.intersection(segments):
        raise ValueError(f"{election[:300]!r} can't be the name of an election")
    return f"{root}/{election}/queue"


def term_path(election: str, root: str = "/tenure") -> str:
    """Where an election's term record is."""
    return queue_path(election, root)[: -len("queue")] + "term"


def encode(value: Mapping[str, Any]) -> bytes:
    """A record or a candidate as bytes, in the order of its keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "surrogatepass")


def encode_candidate(candidate: Mapping[str, Any]) -> bytes:
    """What a candidate's node holds. Raises ValueError above 8 KiB."""
    data = encode(candidate)
    if len(data) > CANDIDATE_MAX_BYTES:
        raise ValueError(f"id and metadata take {len(data)} bytes of JSON, at most {CANDIDATE_MAX_BYTES} are allowed")
    return data


def decode_candidate(data: bytes) -> Optional[Dict[str, Any]]:
    """A candidate's data as far as it can be read; None for what is foreign. Never trust it."""
    value = _object(data)
    if value is None or not isinstance(value.get("id"), str):
        return None
    metadata = value.get("metadata")
    return {
        "v": 1,
        "id": value["id"],
        "host": value["host"] if isinstance(value.get("host"), str) else "",
        "pid": value["pid"] if _is_number(value.get("pid")) else 0,
        "metadata": metadata if isinstance(metadata, dict) else {},
        "joinedAt": value["joinedAt"] if isinstance(value.get("joinedAt"), str) else "",
    }


def decode_record(data: bytes) -> Dict[str, Any]:
    """The term record, with all its fields, tokens as text; ``term`` is 0 while nobody has led.

    Raises ValueError for what can't be read: don't write over it.
    """
    value = {"v": 1, "term": 0, "floor": "0"} if not data else _object(data)
    if value is None:
        raise ValueError("the term record is not a JSON object")
    if not _is_number(value.get("v")) or value["v"] != 1:
        raise ValueError(f"the term record's version is {value.get('v')!r}, 1 is read here")
    floor, previous = value.get("floor"), value.get("previous")
    if not isinstance(floor, str) or not _FLOOR.match(floor):
        raise ValueError(f"the floor is {floor!r}")
    led = not (_is_number(value.get("term")) and value["term"] == 0)
    return {
        "v": 1,
        **(_term(value) if led else {"term": 0}),
        "floor": floor,
        "pause": _texts(value.get("pause"), "by", "at", "reason"),
        "transfer": _texts(value.get("transfer"), "to", "by", "at", "reason", "deadline"),
        "previous": None if previous is None else _previous(previous),
    }


def _term(value: Mapping[str, Any]) -> Dict[str, Any]:
    ended, metadata = value.get("ended"), value.get("metadata")
    at = _texts(ended, "at")
    return {
        "term": _positive(value, "term"),
        "token": str(parse_token(value.get("token"))),
        **{key: _text(value, key) for key in ("node", "leaderId", "session")},
        "leaseMs": _positive(value, "leaseMs"),
        "metadata": metadata if isinstance(metadata, dict) else {},
        "electedAt": _text(value, "electedAt"),
        "ended": {**at, "how": _end(ended, "how")} if at is not None and isinstance(ended, dict) else None,
    }


def _previous(value: Any) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("previous is not an object")
    return {
        "term": _positive(value, "term"),
        "token": str(parse_token(value.get("token"))),
        "leaderId": _text(value, "leaderId"),
        "end": _end(value, "end"),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _positive(value: Mapping[str, Any], key: str) -> int:
    found: Any = value.get(key)
    if not _is_number(found) or not 1 <= found <= _SAFE or found != int(found):
        raise ValueError(f"{key} is {found!r}")
    return int(found)


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str):
        raise ValueError(f"{key} is {found!r}")
    return found


def _end(value: Mapping[str, Any], key: str) -> str:
    found = _text(value, key)
    if found not in _ENDS:
        raise ValueError(f"{key} is {found!r}")
    return found


def _texts(value: Any, *keys: str) -> Optional[Dict[str, str]]:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("an object is expected")
    return {key: _text(value, key) for key in keys}


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _object(data: bytes) -> Optional[Dict[str, Any]]:
    try:
        # Decoded first: json would take UTF-16 for what it is, and NaN for a number.
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
