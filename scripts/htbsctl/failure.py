"""Errors for a person: what failed, and what to do about it."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of htbsctl."""

    DONE = 0
    #: It failed; nothing was changed except for what was printed.
    FAILED = 1
    #: The command line is wrong; nothing was tried.
    USAGE = 2
    #: It ran, and found something that needs attention: a reservation that cannot be kept, a trap.
    FOUND = 3


class Failure(Exception):
    """One line for a person: what failed, and the next step.

    If words could not be understood, `code` is Exit.USAGE.
    """

    def __init__(self, what: str, remedy: str = "", code: Exit = Exit.FAILED) -> None:
        super().__init__(f"{what}: {remedy}" if remedy else what)
        self.what, self.remedy = what, remedy
        self.code = code
