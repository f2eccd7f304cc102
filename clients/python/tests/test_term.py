"""A term by its clock alone: nothing watches it here, as when the process was paused and nothing else has run yet."""

import unittest

from tenure_client import NotLeading, TermOver
from tenure_client.clock import now
from tenure_client.term import Term


def term(seconds):
    return Term("settlement", "worker-1", 7, 4294967342, None, now() + seconds)


class ByTheClock(unittest.TestCase):
    def past(self):
        one = term(0.001)
        end = now() + 0.002
        while now() < end:
            pass
        return one

    def test_check_fails_past_the_deadline(self):
        with self.assertRaises(TermOver) as raised:
            self.past().check()
        self.assertEqual(raised.exception.reason, "deadline")

    def test_so_do_the_signal_and_what_remains(self):
        self.assertTrue(self.past().cancelled.is_set())
        self.assertTrue(self.past().cancelled.wait(0))
        self.assertEqual(self.past().remaining(), 0)

    def test_nothing_revives_it(self):
        one = self.past()
        one._extend(now() + 60)
        with self.assertRaises(TermOver):
            one.check()

    def test_suspect_until_a_later_licence(self):
        one = term(60)
        one.check()
        one._suspend()
        with self.assertRaises(NotLeading) as raised:
            one.check()
        self.assertNotIsInstance(raised.exception, TermOver)
        self.assertTrue(raised.exception.retriable)
        self.assertEqual(one.remaining(), 0)
        one._extend(now() + 60)
        one.check()
        self.assertGreater(one.remaining(), 59)


if __name__ == "__main__":
    unittest.main()
