"""The container image, as far as it can be seen without an engine: what it says, and a run as it would run."""

import fnmatch
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dockerfile import Image
from hashrange.config import Settings, load
from house import ROOT

IMAGE = Image.read(ROOT / "deploy/Dockerfile")
DATA = "/var/lib/hashrange"
_START_SECONDS = 60


def test_it_runs_as_nobody_in_particular() -> None:
    user, group = IMAGE.user
    assert user > 0
    assert group > 0


def test_its_data_directory_is_a_volume_that_the_server_owns() -> None:
    path, owner, group, mode = IMAGE.made_directory()
    assert path == IMAGE.environment["HASHRANGE_DATA_DIR"] == IMAGE.last("WORKDIR") == DATA
    assert (owner, group) == IMAGE.user
    assert mode & 0o700 == 0o700
    assert IMAGE.volumes == [path]
    assert IMAGE.position("RUN") < IMAGE.position("VOLUME")  # what is done to a volume later is lost


def test_it_listens_beyond_its_own_loopback_on_the_port_it_exposes() -> None:
    assert IMAGE.environment["HASHRANGE_HOST"] == "0.0.0.0"  # nobody outside would reach another
    assert IMAGE.environment["HASHRANGE_PORT"] == IMAGE.last("EXPOSE")
    load({}, IMAGE.environment)  # which refuses such a host unless --auth is written out


def test_its_environment_names_settings_that_exist() -> None:
    known = {f"HASHRANGE_{name.upper()}" for name in Settings.__dataclass_fields__}
    assert IMAGE.environment.keys() <= known


def test_it_serves_without_arguments_and_gets_signals_itself() -> None:
    assert IMAGE.command == ["/opt/hashrange/bin/hashrange", "serve"]  # a list: no shell in between


def test_its_health_check_needs_python_only() -> None:
    assert IMAGE.health_command == ["/opt/hashrange/bin/python", "/opt/hashrange/healthcheck.py"]


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path out: the last line that fits it, or a folder above it, decides."""
    answer = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        above = ["/".join(parts[: place + 1]) for place in range(len(parts))]
        if line.startswith("**/"):
            above = parts
        if any(fnmatch.fnmatchcase(part, pattern) for part in above):
            answer = not line.startswith("!")
    return answer


def test_the_build_gets_what_it_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [project["readme"], *project["license-files"], "pyproject.toml", "constraints.txt"]
    needed += ["src/hashrange/__init__.py", "deploy/healthcheck.py"]
    assert [path for path in needed if ignored(path) or not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".venv/bin/python", ".cache/bench/x", "hashrange-data/data.db", "tests/house.py"),
        *("bench/ab.py", "src/hashrange/__pycache__/cli.pyc"),
    ],
)
def test_nothing_else_is_sent_to_the_build(path: str) -> None:
    assert ignored(path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: Sequence[str], **options: object) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            process.stderr.close()


def healthy(server: "subprocess.Popen[str]", check: Sequence[str], **options: object) -> None:
    """Run the health check until it passes, as an engine does; give up when the server has ended."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        checked = subprocess.run(check, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
        if checked.returncode == 0:
            return
        assert server.poll() is None, server.stderr.read() if server.stderr else ""
        assert time.monotonic() < deadline, checked.stderr
        time.sleep(0.1)


def here(command: Sequence[str]) -> list[str]:
    """The same command with this interpreter and this source."""
    replaced = {
        "/opt/hashrange/bin/hashrange": [sys.executable, "-m", "hashrange"],
        "/opt/hashrange/bin/python": [sys.executable],
        "/opt/hashrange/healthcheck.py": [str(ROOT / "deploy/healthcheck.py")],
    }
    return [part for word in command for part in replaced.get(word, [word])]


def test_the_same_command_serves_and_is_found_healthy(tmp_path: Path) -> None:
    environment = {**os.environ, **IMAGE.environment, "HASHRANGE_PORT": str(free_port())}
    environment["HASHRANGE_DATA_DIR"] = str(tmp_path)
    with started(here(IMAGE.command), cwd=tmp_path, env=environment) as server:
        healthy(server, here(IMAGE.health_command), env=environment)
        assert list(tmp_path.iterdir())
    stopped = subprocess.run(
        here(IMAGE.health_command), capture_output=True, text=True, check=False, env=environment
    )
    assert stopped.returncode == 1
    assert "no answer on port" in stopped.stderr


class Chroot:
    """A root directory like the image's: the server may write to its data directory and to nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(mode=0o755)
        self.mounts = [path for path in ("/usr", "/etc", "/dev") if Path(path).is_dir()]
        self.mounts += [sys.prefix, str(ROOT / "src")]
        if not Path(sys.base_prefix).is_relative_to("/usr"):
            self.mounts.append(sys.base_prefix)
        for name in ("bin", "lib", "lib64"):
            if (path := Path("/", name)).is_symlink():
                (root / name).symlink_to(path.readlink())
            elif path.is_dir():
                self.mounts.append(str(path))
        for mount in (*self.mounts, "/opt/hashrange/bin"):
            (root / mount.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self._install()
        made, owner, group, mode = IMAGE.made_directory()
        data = root / made.lstrip("/")
        data.mkdir(parents=True)
        data.chmod(mode)
        os.chown(data, owner, group)

    def _install(self) -> None:
        """Put at the image's paths what stands for the installed server here."""
        target = self.root / "opt/hashrange"
        shutil.copy(ROOT / "deploy/healthcheck.py", target)
        for name, module in (("python", ""), ("hashrange", "-m hashrange")):
            script = target / "bin" / name
            script.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            script.chmod(0o755)

    def command(self, command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Run a command in there as the image's user; the mounts are gone with the process."""
        binds = [f'mount --rbind "{path}" "{self.root}{path}"' for path in self.mounts]
        user, group = IMAGE.user
        inside = [
            *("chroot", f"--userspec={user}:{group}", "--groups=", str(self.root)),
            *("env", "--ignore-environment", f"--chdir={IMAGE.last('WORKDIR')}"),
            *(f"{name}={value}" for name, value in environment.items()),
            *command,
        ]
        script = "\n".join(("set -e", *binds, 'exec "$@"'))
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *inside]


@pytest.fixture
def chroot(tmp_path: Path) -> Chroot:
    if os.geteuid() != 0:
        pytest.skip("only root can make a root directory and run in it as another user")
    if any(shutil.which(program) is None for program in ("unshare", "chroot", "env", "mount")):
        pytest.skip("unshare, chroot, env or mount is not installed")
    image = Chroot(tmp_path / "root")
    attempt = subprocess.run(image.command(["true"], {}), capture_output=True, text=True, check=False)
    if attempt.returncode:
        pytest.skip(f"mounts are not allowed here: {attempt.stderr.strip()}")
    return image


def test_as_its_user_it_serves_from_its_volume_and_can_write_nowhere_else(chroot: Chroot) -> None:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": DATA, **IMAGE.environment}
    environment["HASHRANGE_PORT"] = str(free_port())
    with started(chroot.command(IMAGE.command, environment)) as server:
        healthy(server, chroot.command(IMAGE.health_command, environment))
        assert Path(f"/proc/{server.pid}").stat().st_uid == IMAGE.user[0]
    files = list((chroot.root / DATA.lstrip("/")).iterdir())
    assert files
    assert {path.stat().st_uid for path in files} == {IMAGE.user[0]}
    touched = subprocess.run(chroot.command(["touch", "/x"], {}), capture_output=True, check=False)
    assert touched.returncode


def test_without_the_volume_it_would_not_start(chroot: Chroot) -> None:
    """The run above shows something: the same user cannot serve from a directory that is not its own."""
    environment = {**IMAGE.environment, "HASHRANGE_DATA_DIR": "hashrange-data", "HASHRANGE_PORT": "0"}
    command = [
        word.replace(f"--chdir={DATA}", "--chdir=/") for word in chroot.command(IMAGE.command, environment)
    ]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert refused.returncode == 1
    assert "cannot use data directory hashrange-data" in refused.stderr
