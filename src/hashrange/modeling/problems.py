"""What is wrong with a model file: every mistake with its line and column, and what to do about it."""

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hashrange.modeling.model import NOWHERE, Place

PROBLEMS_MAX = 100  # whoever has more begins with the first
_WORD_CHARS_MAX = (
    64  # longer ones are not compared with others: that takes long, and they are no misspellings
)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake."""

    place: Place
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class ModelErrors(Exception):
    """A file that is no model, with all of its mistakes in the order of their lines."""

    def __init__(self, problems: Iterable[Problem], path: str = "") -> None:
        self.problems = tuple(problems)
        self.path = path
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """`model.yaml:12:5: what is wrong; what to do`, as compilers write it, so that editors can jump there."""
        return [self._line(problem) for problem in self.problems]

    def _line(self, problem: Problem) -> str:
        place = problem.place
        where = f"{self.path}:{place.line}:{place.column}" if place.line else self.path
        # A mistake in a flag, or in a file of prices, is in no line of a model.
        return f"{where}: {problem}" if where else str(problem)


class Problems:
    """Collects mistakes while a file is read, so that one run shows them all."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}
        self._texts: dict[tuple[Place, str], list[tuple[str, Callable[[int], Place]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._problems)

    def add(self, place: Place, message: str, remedy: str = "") -> None:
        if len(self._problems) < PROBLEMS_MAX:
            self._problems[Problem(place, message, remedy)] = None

    def remember(self, section: Place, member: str, text: str, at: Callable[[int], Place]) -> None:
        """Keep where a member's text stands: that one of its words means nothing is found out later."""
        self._texts.setdefault((section, member), []).append((text, at))

    def spot(self, section: Place, member: str, word: str) -> Place:
        """The place of a word in a member of a section; `set|add` is one of the two."""
        pattern = re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])")
        texts = [text for name in member.split("|") for text in self._texts.get((section, name), ())]
        for text, at in texts:
            if match := pattern.search(text):
                return at(match.start())
        return texts[0][1](0) if texts else section

    def refuse(self, path: str) -> None:
        """Raise what was collected, if anything was."""
        if self._problems:
            raise ModelErrors(sorted(self._problems), path)


def refused(message: str, remedy: str = "", place: Place = NOWHERE) -> ModelErrors:
    """A file in which nothing else can be looked for."""
    return ModelErrors([Problem(place, message, remedy)])


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """What to do about a word that is not among others: the one that it resembles, or all of them."""
    candidates = list(dict.fromkeys(words))
    if not candidates:
        return ""
    close = difflib.get_close_matches(word, candidates, 1) if len(word) <= _WORD_CHARS_MAX else []
    if not close:
        folded = {candidate.lower().replace("-", "_"): candidate for candidate in candidates}
        same = folded.get(word.lower().replace("-", "_").replace(" ", "_"))
        close = [] if same is None else [same]
    if close:
        return f"did you mean `{close[0]}`?"
    shown = ", ".join(candidates[:12])
    return f"there {'is' if len(candidates) == 1 else 'are'} {shown}{', …' if len(candidates) > 12 else ''}"
