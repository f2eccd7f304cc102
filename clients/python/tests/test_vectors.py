"""The vectors that the TypeScript code passes too."""

import json
import pathlib
import unittest

from tenure_client import protocol
from tenure_client.sidecar import encode

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "test" / "vectors"


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"))


class Vectors(unittest.TestCase):
    def test_queue(self):
        given = vectors("queue")
        for one in given["sequence"]:
            with self.subTest(one["node"]):
                self.assertEqual(protocol.sequence(one["node"]), one["sequence"])
        for one in given["order"]:
            with self.subTest(one["about"]):
                self.assertEqual(protocol.in_order(one["nodes"]), one["ordered"])
                self.assertEqual(protocol.in_order(reversed(one["nodes"])), one["ordered"])

    def test_token(self):
        given = vectors("token")
        for text in given["good"]:
            self.assertEqual(str(protocol.parse_token(text)), text)
        for text in [*given["bad"], 7, None]:
            with self.subTest(text), self.assertRaises(ValueError):
                protocol.parse_token(text)
        for one in given["sum"]:
            with self.subTest(one):
                if one["token"] is None:
                    with self.assertRaises(ValueError):
                        protocol.token_of(int(one["floor"]), int(one["czxid"]))
                else:
                    self.assertEqual(protocol.token_of(int(one["floor"]), int(one["czxid"])), int(one["token"]))

    def test_record(self):
        given = vectors("record")
        for one in given["good"]:
            with self.subTest(one["about"]):
                written = protocol.encode(protocol.decode_record(one["text"].encode()))
                self.assertEqual(written.decode(), one.get("normal", one["text"]))
        bad = [(one["about"], one["text"].encode()) for one in given["bad"]]
        bad += [(one["about"], bytes.fromhex(one["hex"])) for one in given["badHex"]]
        for about, data in bad:
            with self.subTest(about), self.assertRaises(ValueError):
                protocol.decode_record(data)

    def test_candidate(self):
        given = vectors("candidate")
        for one in given["good"]:
            with self.subTest(one["about"]):
                written = protocol.encode_candidate(protocol.decode_candidate(one["text"].encode()))
                self.assertEqual(written.decode(), one.get("normal", one["text"]))
        foreign = [(one["about"], one["text"].encode()) for one in given["foreign"]]
        foreign += [(one["about"], bytes.fromhex(one["hex"])) for one in given["foreignHex"]]
        for about, data in foreign:
            with self.subTest(about):
                self.assertIsNone(protocol.decode_candidate(data))
        candidate = protocol.decode_candidate(given["good"][0]["text"].encode())
        candidate["id"] = "x" * given["tooLarge"]
        with self.assertRaises(ValueError):
            protocol.encode_candidate(candidate)
        candidate["id"] = candidate["id"][1:]
        self.assertEqual(len(protocol.encode_candidate(candidate)), 8192)

    def test_election(self):
        given = vectors("election")
        for one in given["good"]:
            with self.subTest(one["name"]):
                self.assertEqual(protocol.queue_path(one["name"]), one["queue"])
                self.assertEqual(encode(one["name"]), one["encoded"])
        for name in [*given["bad"], "x" * (given["longest"] + 1)]:
            with self.subTest(name), self.assertRaises(ValueError):
                protocol.queue_path(name)
        protocol.queue_path("x" * given["longest"])


if __name__ == "__main__":
    unittest.main()
