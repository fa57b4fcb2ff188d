"""The follower's main. What it needs to fork the extractors is loaded here; all else when they are there."""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

from fledgling.messages.following import Follow, ToFollower
from fledgling.pipe import Pipe
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.languages.table import load_languages
from fledgling.worker.process.fault import ended


def main() -> None:
    """Follow one project: read Follow from standard input, then answer every other message."""
    pipe: Pipe[ToFollower] = Pipe(ToFollower)
    order = pipe.receive()
    if isinstance(order, Follow):
        languages = load_languages(order.profile, for_graph=False)  # no change is laid over it
        extractors = Extractors(languages, order.confining, order.profile.memory_limit, processes=1)
        from fledgling.worker.follower.run import follow  # noqa: PLC0415  (what it loads the extractors need not hold)

        follow(pipe, order, languages, extractors)


if __name__ == "__main__":
    ended(main)
