"""What lies in `deploy/`, held against the programs that it names, as far as they are here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from holdfast.errors import StoreError
from holdfast.interfaces.http.auth.guard import MAX_BODY_BYTES
from holdfast.model.bank import Bank
from holdfast.settings import ServeSettings
from holdfast.store.postgres.store import PostgresStore
from tests.support.http.server import MAIN, read_startup_message
from tests.support.postgres_server import Server

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SECRET = re.compile(r"(?i)(?:password|secret|token|api_key)[A-Z_]*(?:=|: )\s*(?P<value>\S+)")


def instructions() -> list[tuple[str, str]]:
    """The lines of the container file: what to do, and with what."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def settings(unit: Path) -> list[tuple[str, str]]:
    lines = [line for line in unit.read_text().splitlines() if re.match(r"[A-Z]\w+=", line)]
    return [(name, value) for name, _, value in (line.partition("=") for line in lines)]


def commands() -> Iterator[list[str]]:
    """Every command line of ours that stands in any file, also in a comment."""
    told = dict(instructions())
    yield [*json.loads(told["ENTRYPOINT"]), *json.loads(told["CMD"])]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    yield ["holdfast", *compose["services"]["holdfast"]["command"]]
    for path in sorted(DEPLOY.rglob("*")):
        if path.is_file():
            text = path.read_text().replace("\\\n#", " ")
            for found in re.finditer(r"(?:^|[\s/`])holdfast ((?:key|serve|worker)\b[^`\n]*)", text):
                yield ["holdfast", *shlex.split(found.group(1).split(":")[0])]
    for unit in UNITS:
        for name, value in settings(unit):
            if name.startswith("Exec"):
                yield ["holdfast", *shlex.split(value)[1:]]


def test_commands_and_options_in_deployment_files_exist() -> None:
    helps: dict[str, str] = {}
    seen = 0
    for _, *words in commands():
        own = [word for word in words if not word.startswith("-")]
        way = own[:2] if own[0] == "key" else own[:1]
        name = " ".join(way)
        if name not in helps:
            run = subprocess.run([*MAIN, *way, "--help"], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            helps[name] = run.stdout
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}\b", helps[name]), (name, option)
            seen += 1
    assert {"serve", "key new", "worker"} <= helps.keys() and seen >= 12


def test_the_image_runs_unprivileged_and_contains_no_secret() -> None:
    told = instructions()
    last = dict(told)
    user, _, group = last["USER"].partition(":")
    assert user.isdigit() and group.isdigit() and int(user) > 0
    after = [name for name, _ in told[[name for name, _ in told].index("USER") :]]
    assert "RUN" not in after and "COPY" not in after and "ADD" not in dict(told)
    env = dict(part.split("=", 1) for name, rest in told if name == "ENV" for part in rest.split())
    assert env["HOLDFAST_HOME"] == last["VOLUME"] and "HEALTHCHECK" in last
    assert not any(re.search("PASS|TOKEN|SECRET|KEY", name) for name in env)
    # What is given to a build stays in its history.
    assert [rest.partition("=")[0] for name, rest in told if name == "ARG"] == ["BASE_IMAGE"]


def test_the_build_context_contains_only_what_is_copied_into_the_image() -> None:
    allowed = [
        line[1:]
        for line in (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    copied = [
        source
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert sorted(copied) == sorted(allowed)
    assert all((ROOT / source).exists() for source in copied)


def test_no_deployment_file_contains_a_password() -> None:
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            for found in SECRET.finditer(path.read_text()):
                value = found["value"].strip("'\"")
                assert value[:1] in "$%:" or "$(" in value, (path.name, found.group())


def test_services_are_connected_only_as_needed() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services: dict[str, Any] = compose["services"]
    assert [name for name, one in services.items() if "ports" in one] == ["proxy"]
    assert services["db"]["networks"] == ["inside"] and compose["networks"]["inside"]["internal"]
    ours = services["holdfast"]
    assert ours["read_only"] and ours["cap_drop"] == ["ALL"]
    assert (DEPLOY / ours["build"]["context"] / ours["build"]["dockerfile"]).is_file()
    asked_by = ours["command"][ours["command"].index("--proxy") + 1]
    assert services["proxy"]["networks"]["front"]["ipv4_address"] == asked_by
    for one in services.values():
        for volume in one.get("volumes", []):
            source = volume.split(":")[0]
            known = source in compose["volumes"] or (DEPLOY / source).is_file()
            assert known, volume


def test_proxy_limits_match_the_server_and_responses_are_not_buffered() -> None:
    nginx = (DEPLOY / "proxy" / "nginx.conf").read_text()
    caddy = (DEPLOY / "proxy" / "Caddyfile").read_text()
    assert "client_max_body_size  1m;" in nginx and MAX_BODY_BYTES <= 1 << 20
    assert "client_header_timeout" in nginx and "client_body_timeout" in nginx
    assert "limit_req " in nginx and "limit_conn " in nginx
    assert "proxy_buffering    off;" in nginx and "flush_interval -1" in caddy
    assert "$proxy_add_x_forwarded_for;" not in nginx
    assert nginx.count("{") == nginx.count("}") and caddy.count("{") == caddy.count("}")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_systemd_units_are_valid_and_hardened(tmp_path: Path) -> None:
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text().replace("/opt/holdfast/bin/holdfast", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    checked = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    for unit in UNITS:
        wanted = ["--offline=true", "--threshold=15", str(tmp_path / unit.name)]
        rated = subprocess.run(["systemd-analyze", "security", *wanted], capture_output=True)
        assert rated.returncode == 0, rated.stdout.decode()[-200:]


def test_both_systemd_units_are_hardened_alike() -> None:
    told = [dict(settings(unit)) for unit in UNITS]
    kept = [
        {n: v for n, v in one.items() if n.startswith(("Protect", "Private", "Restrict", "System"))}
        for one in told
    ]
    assert len(told) == 2 and kept[0] == kept[1] and len(kept[0]) >= 15
    assert all(one["DynamicUser"] == "yes" and one["StateDirectory"] == "holdfast" for one in told)


@pytest.fixture(scope="module")
def postgres() -> Generator[Server]:
    with closing(Server()) as server:
        yield server


def test_the_database_roles_are_created_and_can_store_a_memory(postgres: Server) -> None:
    """By the script that the image of PostgreSQL runs, with a password that would break SQL: one
    makes the tables, the other is kept to the banks of whom it works for."""
    if postgres.vector_problem:  # the script makes the extension, which the image has
        pytest.skip(postgres.vector_problem)
    folder = postgres.url("postgres").rpartition("host=")[2]
    password = 'it\'s "quoted" \\ $(touch x)'
    env = {
        "PATH": f"{postgres.programs}:{os.defpath}",
        "PGHOST": folder,
        "POSTGRES_USER": "postgres",
        "HOLDFAST_OWNER_PASSWORD": password,
        "HOLDFAST_DB_PASSWORD": password[::-1],
    }
    run = subprocess.run([str(DEPLOY / "postgres" / "role.sh")], env=env, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    url = postgres.url("postgres")
    rows = postgres.run(
        url, "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname ^@ 'holdfast'"
    )
    assert rows == [(False, False)] * 2
    works_as = postgres.url("memory", "holdfast")
    with pytest.raises(StoreError, match="may not"):
        PostgresStore(works_as)
    PostgresStore(postgres.url("memory", "holdfast_owner")).close()
    with closing(PostgresStore(works_as, banks=[])) as store:
        assert store.banks.all() == []
    with closing(PostgresStore(works_as)) as store:
        with store.transaction():
            store.banks.add(Bank("b", "harbour", "2026-03-01T12:00:00Z"))
        store.erasure.overwrite_deleted()


@contextmanager
def served(folder: Path, *words: str) -> Generator[str]:
    """The server as the image starts it, but on a free port of this machine."""
    env = {**os.environ, "HOLDFAST_HOME": str(folder / "home"), "HOME": str(folder)}
    made = [*MAIN, "key", "new", "--name", "a", "--all-banks", "--level", "admin"]
    subprocess.run(made, env=env, cwd=folder, capture_output=True, check=True)
    command = [*MAIN, *words, "--json"]
    with subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.PIPE) as process:
        try:
            yield read_startup_message(process)["url"]
        finally:
            process.terminate()
            assert process.wait(60) == 0


def test_the_health_check_of_the_image_fails_once_the_server_is_down(tmp_path: Path) -> None:
    words = json.loads(dict(instructions())["CMD"])
    words[words.index("--host") + 1] = "127.0.0.1"
    words[words.index("--port") + 1] = "0"

    def asked(url: str) -> int:
        program = [sys.executable, "-I", str(DEPLOY / "healthy.py"), f"{url}/health"]
        return subprocess.run(program).returncode

    with served(tmp_path, *words) as url:
        assert asked(url) == 0
    assert asked(url) == 1


def test_the_database_counts_as_healthy_only_once_it_listens_on_the_network() -> None:
    """While the image of PostgreSQL makes the database, a server listens on its socket alone."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    asked: list[str] = compose["services"]["db"]["healthcheck"]["test"]
    assert asked[asked.index("--host") + 1] == "127.0.0.1"


def test_pg_isready_by_network_does_not_take_a_server_that_is_being_made_for_ready(
    postgres: Server,
) -> None:
    """The server of the tests listens as the one of the image does while it is made."""
    program = str(postgres.programs / "pg_isready")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    asked: list[str] = compose["services"]["db"]["healthcheck"]["test"][2:]
    env = {"PGHOST": str(postgres.home), "PGPORT": "5432"}

    assert subprocess.run([program], env=env).returncode == 0
    assert subprocess.run([program, *asked, "--port", "1"], env=env).returncode == 2


def test_the_caddyfile_works_alone_and_in_compose() -> None:
    caddy = (DEPLOY / "proxy" / "Caddyfile").read_text()
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    named = dict(re.findall(r"\{\$(\w+):([^}]+)\}", caddy))
    assert named == {
        "HOLDFAST_NAME": "memory.example.org",
        "HOLDFAST_UPSTREAM": "127.0.0.1:8080",
    }
    given = compose["services"]["proxy"]["environment"]
    assert given.keys() == named.keys() and given["HOLDFAST_UPSTREAM"] == "holdfast:8080"


def test_a_database_that_comes_late_never_uses_up_the_starts_that_systemd_allows() -> None:
    told = dict(settings(DEPLOY / "systemd" / "holdfast-serve.service"))
    one_start_s = ServeSettings().start_s + int(told["RestartSec"])
    assert one_start_s * int(told["StartLimitBurst"]) > int(told["StartLimitIntervalSec"])


def documented_commands() -> list[str]:
    text = (ROOT / "docs" / "operations.md").read_text()
    return [line for line in text.splitlines() if re.match(r"pg_(?:dump|restore) ", line)]


def an_extension(postgres: Server) -> str:
    """The name of an extension that only a superuser can drop: pgvector, or one that is made."""
    if not postgres.vector_problem:
        return "vector"
    ((folder,),) = postgres.run(postgres.url("postgres"), "SHOW extension_control_path")
    place = Path(folder.partition(":")[0]) / "extension"
    place.mkdir(exist_ok=True)
    (place / "mooring.control").write_text("default_version = '1'\n")
    (place / "mooring--1.sql").write_text("CREATE FUNCTION moor() RETURNS int RETURN 1;\n")
    return "mooring"


def test_the_documented_dump_and_restore_succeed_for_an_owner_who_is_no_superuser(
    postgres: Server, tmp_path: Path
) -> None:
    server = postgres.url("postgres")
    postgres.run(server, "CREATE ROLE keeper LOGIN")
    for name in ("old", "new"):
        postgres.run(server, f"CREATE DATABASE {name} OWNER keeper TEMPLATE template0")
        postgres.run(postgres.url(name), f"CREATE EXTENSION {an_extension(postgres)}")
    with closing(PostgresStore(postgres.url("old", "keeper"))) as store, store.transaction():
        store.banks.add(Bank("b", "harbour", "2026-03-01T12:00:00Z"))
    env = {
        "PATH": f"{postgres.programs}:{os.defpath}",
        "DATABASE_URL": postgres.url("old", "keeper"),
        "OTHER_URL": postgres.url("new", "keeper"),
    }
    commands = documented_commands()
    assert len(commands) == 3

    for command in [*commands, commands[-1]]:  # the restore also over what is there
        run = subprocess.run(["sh", "-c", command], env=env, cwd=tmp_path, capture_output=True)
        assert (run.returncode, run.stderr) == (0, b"")

    with closing(PostgresStore(postgres.url("new", "keeper"))) as store:
        assert [bank.name for bank in store.banks.all()] == ["harbour"]
