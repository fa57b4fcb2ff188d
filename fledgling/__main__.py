"""`fledgling`, and `python -I -m fledgling`: the command line, once nothing of a project can be imported."""

import gc
import os
import sys


def main() -> None:
    """Run the command line, in an interpreter that heeds no PYTHONPATH, and takes names for what they are: UTF-8."""
    heeds = bool(os.environ.get("PYTHONPATH")) and not sys.flags.ignore_environment
    if heeds or sys.getfilesystemencoding() != "utf-8":
        isolated = [sys.executable, "-I", "-X", "utf8", "-m", "fledgling", *sys.argv[1:]]
        os.execv(sys.executable, isolated)  # noqa: S606  (this program again)
    gc.disable()  # what is imported stays, and collections look at all of it: a sixth of the time that loading takes
    try:
        from fledgling.broker.cli import quick  # noqa: PLC0415  (no library before it is known where from)

        if (code := quick.answered(sys.argv[1:], os.environ)) is not None:
            gc.freeze()  # as main does
            sys.exit(code)
        from fledgling.standing_in import lean  # noqa: PLC0415

        with lean():
            from fledgling.broker.cli import main as cli  # noqa: PLC0415
    except (OSError, MemoryError, ImportError) as failed:
        what = str(failed) or "there is not enough memory"
        sys.exit(
            f"fledgling: it cannot be loaded: {what}; allow more memory and files (ulimit -v, -n), or install it anew"
        )
    cli.main()


if __name__ == "__main__":
    main()
