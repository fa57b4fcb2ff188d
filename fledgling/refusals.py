"""Refusals that more than one process gives, so that an agent reads the same words wherever a limit was met."""

from fledgling.messages.answers import Refusal
from fledgling.messages.profile import Profile
from fledgling.plain import said

DEGRADE = (
    "Run `fledgling doctor --allow-degraded` to see what is missing and what that means; `--allow-degraded` serves "
    "without Landlock or seccomp."
)
CONFINE = (
    "Start Fledgling where the kernel grants this: as an ordinary user, or in another container; none serves without."
)
# How the reasons begin for a path that is not there, and for a file that is and lacks the definition.
NO_FILE, NO_DEFINITION = "no file or directory", "no definition"
NO_INDEX = Refusal("failed", "the index could not be built", "See the server's log, then start it again.")


def timed_out(profile: Profile) -> Refusal:
    """Say that a call took too long: `timed_out(profile).kind` is "timeout"."""
    return Refusal(
        "timeout",
        f"the call took longer than the profile's query_timeout of {profile.query_timeout:g} s",
        "Ask for less at once: filter by path or language, or aggregate over fewer rows.",
    )


def out_of_memory(profile: Profile) -> Refusal:
    """Say that a call needed too much memory."""
    return Refusal(
        "memory",
        f"the call needed more than the profile's memory_limit of {profile.memory_limit} bytes",
        "Ask for less at once: filter by path or language, aggregate, or select fewer columns.",
    )


def index_too_large(profile: Profile) -> Refusal:
    """Say that there is no index because it does not fit."""
    return Refusal(
        "memory",
        f"the index does not fit the profile's memory_limit of {profile.memory_limit} bytes",
        "Index less (exclude_patterns, max_file_size, max_files, index_content) or use a profile with more memory.",
    )


def not_confined(problem: str) -> Refusal:
    """Say that a process would not be confined: `not_confined("landlock cannot be enforced here: ...")`."""
    return Refusal("unavailable", said(problem), DEGRADE if problem.startswith(("landlock", "seccomp")) else CONFINE)


def unfit(problem: str) -> Refusal:
    """Say that the description of a language is wrong: `unfit("worker/languages/go/tags.scm: Invalid node type")`."""
    return Refusal("failed", said(problem), "Correct that file, or reinstall Fledgling.")
