"""A storm of requests from a process of its own: `storming.py PORT CONNECTIONS REQUEST-FILE`, until it is killed.

Each connection asks again as soon as it is answered; a line an answer says when it was asked for, and when it came.
"""

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import BinaryIO


def storm(port: int, request: bytes) -> None:
    """Ask over one connection, and over another where that ends."""
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as connection:
            answers = connection.makefile("rb")
            while True:
                begun = time.monotonic()
                connection.sendall(request)
                if not is_read(answers):
                    break
                os.write(1, b"%f %f\n" % (begun, time.monotonic()))


def is_read(answers: BinaryIO) -> bool:
    """Read an answer to its end, if one comes."""
    length = 0
    while (line := answers.readline().lower()) not in (b"", b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return bool(line) and len(answers.read(length)) == length


if __name__ == "__main__":
    with open(sys.argv[3], "rb") as file:
        asked = file.read()
    for _ in range(int(sys.argv[2])):
        threading.Thread(target=storm, args=(int(sys.argv[1]), asked)).start()
