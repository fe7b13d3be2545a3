"""A Dockerfile as the tests read it: the instructions of its last stage, which is what becomes the image."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Image:
    instructions: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> "Image":
        lines = [line for line in path.read_text("utf-8").splitlines() if not line.lstrip().startswith("#")]
        text = re.sub(r"\\\n\s*", "", "\n".join(lines))
        words = [line.split(None, 1) for line in text.splitlines() if line.strip()]
        instructions = [(name.upper(), rest) for name, rest in words]
        last = max(place for place, (name, _) in enumerate(instructions) if name == "FROM")
        return cls(tuple(instructions[last:]))

    def all(self, name: str) -> list[str]:
        return [rest for instruction, rest in self.instructions if instruction == name]

    def last(self, name: str) -> str:
        return self.all(name)[-1]

    def position(self, name: str) -> int:
        return [instruction for instruction, _ in self.instructions].index(name)

    @property
    def environment(self) -> dict[str, str]:
        words = [word for rest in self.all("ENV") for word in shlex.split(rest)]
        return dict(word.split("=", 1) for word in words)

    @property
    def command(self) -> list[str]:
        """What runs when no arguments are given."""
        return [*json.loads(self.last("ENTRYPOINT")), *json.loads(self.last("CMD"))]

    @property
    def health_command(self) -> list[str]:
        command = json.loads(self.last("HEALTHCHECK").partition("CMD ")[2])
        assert isinstance(command, list)
        return command

    @property
    def user(self) -> tuple[int, int]:
        user, _, group = self.last("USER").partition(":")
        return int(user), int(group)

    @property
    def volumes(self) -> list[str]:
        return [path for rest in self.all("VOLUME") for path in json.loads(rest)]

    def made_directory(self) -> tuple[str, int, int, int]:
        """The directory that RUN makes: its path, owner, group and mode."""
        pattern = r"install --directory --owner=(\d+) --group=(\d+) --mode=(\d+) (\S+)"
        (match,) = re.findall(pattern, " ".join(self.all("RUN")))
        owner, group, mode, path = match
        return path, int(owner), int(group), int(mode, 8)
