"""What each feature is worth.

Fitted to the 480 development questions of `make bench-meaning` and to nothing else: the softmax of the sums over the
files of a project against those that a question means, no weight below zero, and the average of six fits that each
leave out the questions of some projects. A fit to all of them at once, or one feature more, does better there alone.
"""

WEIGHTS: dict[str, float] = {
    "text": 0.73,
    "base covered by beginnings": 0.61,
    "comments": 0.37,
    "pair as base": 0.35,
    "exact definition": 0.34,
    "exact base": 0.33,
    "joined as export": 0.31,
    "public": 0.25,
    "pair in text": 0.18,
    "directory": 0.16,
    "base covered": 0.14,
    "exports": 0.14,
    "header": 0.11,
    "definitions": 0.06,
    "covered by names": 0.03,
}
