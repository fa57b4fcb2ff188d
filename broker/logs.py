"""What the operator sees on standard error: lines for a person, or JSON. Standard output is for answers alone."""

import logging
import math
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from fledgling.broker import heard
from fledgling.plain import visible, visible_json
from fledgling.settings import Settings

OTHERS_SECONDS = 1.0  # between two lines of other libraries: whoever can connect could fill the log
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__)


def configure(settings: Settings = Settings()) -> None:  # noqa: B008  (it is frozen)
    """Set form and level of our own log; of other libraries' only warnings are shown, and not all."""
    handler = StandardError()
    handler.addFilter(OthersSeldom())
    if settings.log_format == "json":
        handler.setFormatter(JSONFormatter())
    else:
        handler.setFormatter(TextFormatter("fledgling: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("fledgling").setLevel(settings.log_level.upper())


class StandardError(logging.Handler):
    """Writes lines to standard error. Those that nobody reads there are dropped, and the next one says how many."""

    def __init__(self) -> None:
        super().__init__()
        self._unread = 0
        self._is_torn = False  # of the last line, a part was read

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a record."""
        try:
            if self._unread:
                record.msg, record.args = f"{record.getMessage()}; {self._unread} lines before it were not read", None
            data = f"{self.format(record)}\n".encode(errors="backslashreplace")
        except Exception:  # noqa: BLE001  (its own call is malformed: logging says so)
            self.handleError(record)
            return
        data = b"\n" + data if self._is_torn else data
        written = 0
        try:
            while written < len(data):
                written += heard.write(2, data[written:])
        except OSError:
            self._unread += 1
            self._is_torn = written > 0 or self._is_torn
        else:
            self._unread, self._is_torn = 0, False


class OthersSeldom(logging.Filter):
    """Of what other libraries say, a line in OTHERS_SECONDS: some say one for each request that they refuse."""

    def __init__(self) -> None:
        super().__init__()
        self._said = {False: -math.inf, True: -math.inf}  # by whether it was an error: warnings crowd out none
        self._unsaid = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is shown; the next that is says how many were not."""
        if record.name.partition(".")[0] == "fledgling":
            return True
        now, is_error = time.monotonic(), record.levelno >= logging.ERROR
        if now - self._said[is_error] < OTHERS_SECONDS:
            self._unsaid += 1
            return False
        if self._unsaid:
            with suppress(Exception):  # its own call is malformed: logging says so where it writes
                record.msg, record.args = f"{record.getMessage()}; {self._unsaid} more before it", None
        self._said[is_error], self._unsaid = now, 0
        return True


class TextFormatter(logging.Formatter):
    """A line for a person: it may quote a path, or a back process, and no terminal obeys it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return visible(super().format(record))


class JSONFormatter(logging.Formatter):
    """One JSON object a line: time, level, message, and what a call of the logger gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        extra = {key: value for key, value in record.__dict__.items() if key not in _STANDARD}
        return visible_json(msgspec.json.encode(values | extra).decode())
