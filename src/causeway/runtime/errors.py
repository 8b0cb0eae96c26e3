"""The two ways in which a command ends without a bug: the user's mistake, and a check that says no."""

__all__ = ["CausewayError", "CheckFailedError", "UserError"]


class CausewayError(Exception):
    """Told to the user without a traceback; the process ends with `exit_code`."""

    exit_code = 2


class UserError(CausewayError):
    """The user can mend it: what was expected, which file and line, what to do. Exit code 2."""

    exit_code = 2


class CheckFailedError(CausewayError):
    """The command worked and its answer is no: a figure is out, a promise was broken. Exit code 1."""

    exit_code = 1
