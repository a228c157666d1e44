"""Who may do what."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Project, Service, label


def test_nothing_is_told_without_a_token(service: Service, project: Project) -> None:
    for token in (None, "cf_wrong", "x"):
        client = service.client_of(token)
        for path in ("/v1/projects", project.path, f"{project.path}/tasks", "/v1/tokens", "/metrics"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), path
            assert answer.headers["content-type"] == "application/problem+json"
        assert client.post(f"{project.path}/events", content="").status_code == 401
        assert client.get("/healthz").status_code == 200


def test_a_role_may_do_what_those_before_it_may(service: Service, project: Project) -> None:
    may = {}
    for role in ("read", "write", "admin"):
        client = service.client_of(service.new_token(role=role))
        may[role] = [client.get(f"{project.path}/tasks").status_code, client.post(f"{project.path}/events", content="").status_code,
                     client.get("/v1/tokens").status_code]
    assert may == {"read": [200, 403, 403], "write": [200, 200, 403], "admin": [200, 200, 200]}


def test_a_token_of_another_project_finds_nothing(service: Service, make_project: Callable[..., Project]) -> None:
    mine, other = make_project(), make_project()
    client = service.client_of(service.new_token(role="admin", project=mine.name))
    assert client.get(mine.path).status_code == 200
    assert [project["name"] for project in client.get("/v1/projects").json()] == [mine.name]
    for path in (other.path, f"{other.path}/tasks", f"{other.path}/webhooks", f"{other.path}/stream", "/v1/projects/none"):
        assert client.get(path).status_code == 404
    assert client.post(f"{other.path}/events", content="").status_code == 404
    assert client.delete(other.path).status_code == 404
    assert client.post("/v1/tokens", json={"name": "more", "role": "admin"}).status_code == 403
    assert client.post("/v1/projects", json={"name": "more"}).status_code == 403


def test_a_token_ends_when_it_is_revoked(service: Service) -> None:
    client = service.client_of(service.new_token(role="read"))
    assert client.get("/v1/projects").status_code == 200
    newest = service.client.get("/v1/tokens").json()[-1]
    assert newest["last_used_at"] is not None
    assert "token" not in newest
    assert service.client.delete(f"/v1/tokens/{newest['id']}").status_code == 204
    assert client.get("/v1/projects").status_code == 401
    assert service.client.delete("/v1/tokens/123456").status_code == 404


def test_a_token_that_expired_is_none(service: Service) -> None:
    token = service.new_token(role="read", expires_in_days=1e-9)
    assert service.client_of(token).get("/v1/projects").status_code == 401


def test_a_tokens_secret_is_not_stored(service: Service) -> None:
    token = service.new_token(role="read")
    for path in service.folder.iterdir():
        assert token.encode() not in path.read_bytes()


def test_the_first_token_is_for_its_reader_alone(service: Service) -> None:
    assert stat.S_IMODE(service.token_file.stat().st_mode) == 0o600
    assert stat.S_IMODE((service.folder / "projects.db").stat().st_mode) == 0o600


def test_too_many_requests_are_refused_for_a_while(make_service: Callable[..., Service]) -> None:
    service = make_service("--rate", "0.1", "--burst", "3")
    answers = [service.client.get("/v1/projects") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def program(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "crowdfold.serve.main", *options], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def test_an_address_that_others_reach_needs_a_token_first(tmp_path: Path) -> None:
    done = program("--folder", str(tmp_path), "--listen", "0.0.0.0:0")
    assert done.returncode == 2
    assert "--admin-token-file" in done.stderr


def test_a_folder_has_one_service(service: Service) -> None:
    done = program("--folder", str(service.folder), "--listen", "127.0.0.1:0")
    assert done.returncode == 2
    assert "another crowdfold-serve" in done.stderr


@pytest.mark.parametrize(("options", "environment", "words"), [
    ((), {}, ("--folder",)),
    (("--folder", "x", "--max-body", "many"), {}, ("--max-body", "many")),
    (("--folder", "x", "--listen", "8080"), {}, ("--listen", "127.0.0.1:8080")),
    (("--folder", "x"), {"CROWDFOLD_SERVE_RATE": "-1"}, ("CROWDFOLD_SERVE_RATE",)),
    (("--folder", "x"), {"CROWDFOLD_SERVE_RAET": "1"}, ("CROWDFOLD_SERVE_RAET", "no such option")),
    (("--config", "none.toml"), {}, ("none.toml",)),
])
def test_a_wrong_option_is_told_with_its_place(options: tuple[str, ...], environment: dict[str, str], words: tuple[str, ...]) -> None:
    done = program("check-config", *options, **environment)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr


def test_flags_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('folder = "from-file"\nmax_body = 2000\nrate = 3.5\nburst = 7\n')
    done = program("check-config", "--config", str(file), "--burst", "9", CROWDFOLD_SERVE_RATE="4.5", CROWDFOLD_SERVE_BURST="8")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {'folder = "from-file"', "max_body = 2000", "rate = 4.5", "burst = 9.0"} <= set(lines)
    (tmp_path / "again.toml").write_text(done.stdout)
    assert program("check-config", "--config", str(tmp_path / "again.toml")).stdout == done.stdout


def test_what_people_change_is_audited(project: Project) -> None:
    import sqlite3

    project.take(label("t", "ann", "cat"))
    project.client.post(f"{project.path}/tasks/t/truth", json={"label": "dog"})
    with sqlite3.connect(f"file:{project.service.folder / 'projects.db'}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT who, what, detail FROM audit WHERE project IN (SELECT id FROM projects WHERE name = ?) ORDER BY id",
                                (project.name,)).fetchall()
    assert [row[1] for row in rows] == ["project.add", "task.truth"]
    assert rows[1][0].startswith("token 1")
    assert '"dog"' in rows[1][2]
