"""The workbench under attack: strangers at the door, odd requests, tables that changed, logs made by hand, sizes."""

from __future__ import annotations

import http.client
import json
import threading
import time

import numpy as np
import polars as pl
import pytest

import treewright as tw
from treewright.exceptions import InputFileError, MissingLibraryError, ParameterError, TreewrightError
from treewright.trees.codec import dumps
from treewright.workbench.screen import Desk
from treewright.workbench.server import Server

RNG = np.random.default_rng(0)
X = pl.DataFrame({"age": RNG.integers(18, 80, 300), "home": RNG.choice(["own", "rent", "free"], 300)})
Y = np.where(X["age"].to_numpy() + RNG.normal(size=300) * 12 > 45, "good", "bad")


@pytest.fixture(scope="module")
def server():
    running = Server(Desk(tw.workbench.Session(X, Y), title="t"))
    thread = threading.Thread(target=running._server.run, kwargs={"sockets": [running._socket]}, daemon=True)
    thread.start()
    asked(running)  # it has imported all that it needs, and answers
    yield running
    running.quit()
    thread.join(10)


def asked(server, path="/ask", *, method="POST", body=b'{"ask": "state"}', **headers):
    given = {"Content-Type": "application/json", "X-Treewright-Token": server.token, **headers}
    given = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, body if method == "POST" else None, given)
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def test_who_knows_the_token_is_answered(server):
    status, body, _ = asked(server)
    assert (status, json.loads(body)["state"]["title"]) == (200, "t")


@pytest.mark.parametrize(
    ("path", "method"), [("/", "GET"), ("/ask", "POST"), ("/events", "GET"), ("/files/model", "GET")]
)  # fmt: skip
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Treewright-Token": None}, 403),
        ({"X-Treewright-Token": "guess"}, 403),
        ({"X-Treewright-Token": "\xe9"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
    ],
)
def test_strangers_are_refused(server, path, method, headers, status):
    found, body, _ = asked(server, path, method=method, **headers)
    assert found == status
    assert server.token.encode() not in body
    assert b"state" not in body


def test_the_page_lets_nothing_in_and_nobody_frame_it(server):
    status, body, headers = asked(server, f"/?token={server.token}", method="GET", **{"X-Treewright-Token": None})
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert server.token.encode() not in body
    assert asked(server, "/workbench.js", method="GET")[0] == 200
    assert asked(server, "/etc/passwd", method="GET")[0] == 404
    assert asked(server, "/files/..%2f..%2fetc%2fpasswd", method="GET")[0] in (400, 404)
    assert asked(server, "/ask", method="GET")[0] == 405


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"[" * 100_000, 400), (b'{"ask": "state"}' + b" " * 1_000_001, 413),
        (b"\xff\xfe", 400),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(server, body, status):
    assert asked(server, body=body)[0] == status
    assert asked(server)[0] == 200


def test_a_form_of_another_page_is_refused(server):
    status, _, _ = asked(server, **{"Content-Type": "text/plain"})
    assert status == 415


def do(what, path="", **given):
    return {"ask": "do", "do": what, "path": path, "given": given, "revision": 0}


ODD = [
    None, [], "state", {}, {"ask": "quit"}, {"ask": ["state"]},
    {"ask": "candidates"}, {"ask": "candidates", "path": "9"}, {"ask": "candidates", "path": "x"},
    {"ask": "candidates", "path": {}}, {"ask": "audit", "path": "0.0.0"},
    {"ask": "column", "path": "", "column": 99}, {"ask": "column", "path": "", "column": "age"},
    {"ask": "column", "path": "", "column": -50},
    {"ask": "question", "path": "", "column": 0, "cut": "x"},
    {"ask": "question", "path": "", "column": 0, "cut": 1e999},
    {"ask": "question", "path": "", "column": 1, "moved": {"9": 0}},
    {"ask": "question", "path": "", "column": 1, "moved": {"0": 5}},
    {"ask": "question", "path": "", "column": 1, "moved": 7},
    {"ask": "export", "kind": "../x"},
    do("format"), do("split"), do("split", column=0), do("split", "0", column=0, cut=40), do("merge", branches=3),
    do("decide", value=0), {**do("decide", value=77), "why": "w"}, do("prune", leaves=1e9), do("grow", levels=-1),
    {**do("grow"), "given": [1]}, {**do("grow"), "revision": None},
    {"ask": "go_to", "n": 10**30, "revision": 0}, {"ask": "go_to", "n": "x", "revision": 0},
    {"ask": "undo", "revision": 0}, {"ask": "undo"}, {"ask": "open_sealed", "revision": 0},
]  # fmt: skip


@pytest.mark.parametrize("request_", ODD, ids=lambda each: json.dumps(each)[:50])
def test_odd_requests_are_answered_with_an_error_and_change_nothing(request_):
    session = tw.workbench.Session(X, Y)
    desk = Desk(session)
    answer = desk.ask(request_)
    assert isinstance(answer["error"], str)
    assert json.dumps(answer, allow_nan=False)
    assert (session.log, desk.revision) == ((), 0)
    assert "state" in desk.ask({"ask": "state"})


def logged(what, path="", **given):
    return {"do": what, "path": path, "given": given}


LOGS = [
    ({"do": "split"}, "damaged"), (logged("erase"), "no command 'erase'"), (logged("__init__"), "no command"),
    (logged("split", 3), "3"), ({**logged("split"), "given": []}, "damaged"),
    ({**logged("split"), "what": 1}, "damaged"),
    ({**logged("split"), "do": ["split"]}, "damaged|no command"), (logged("split", column=[]), "damaged|no column"),
    (logged("split", column="age", cut=[[1]]), "is numeric, give a finite number"),
    (logged("split", column="home", levels={"own": 1}), "give levels"),
    (logged("split", column="home", levels=[["own"], "rent"]), "no level"),
    (logged("lock", "0.0"), "no such node"), (logged("merge", branches=None), "two branches or more"),
    (logged("decide", value="good"), "why is empty"), (logged("rename"), "rename needs 'name'"),
    ({**logged("split", column="age", cut=40), "why": 5}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("command", "told"), LOGS, ids=lambda each: str(each)[:60])
def test_logs_made_by_hand_are_refused_or_done_never_a_crash(tmp_path, command, told):
    session = tw.workbench.Session(X, Y)
    document = {**session.to_dict(), "commands": [command]}
    place = tmp_path / "s.json"
    place.write_text(json.dumps(document))
    if not told:
        assert len(tw.workbench.Session.load(place, X, Y).log) == 1
        return
    with pytest.raises(TreewrightError, match=told):
        tw.workbench.Session.load(place, X, Y)


@pytest.mark.parametrize(
    "changes",
    [
        {"made_with": None}, {"made_with": {"held_out": "x"}}, {"made_with": {"spam": 1}}, {"commands": {}},
        {"commands": [1]},
        {"undone": 5}, {"looks": -1}, {"looks": "many"}, {"opened": True}, {"version": 2}, {"document": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_sessions_are_refused(tmp_path, changes):
    place = tmp_path / "s.json"
    place.write_text(json.dumps({**tw.workbench.Session(X, Y).to_dict(), **changes}))
    with pytest.raises((InputFileError, ParameterError)):
        tw.workbench.Session.load(place, X, Y)


def test_a_session_file_that_somebody_else_changed_is_left_alone(tmp_path):
    place = tmp_path / "s.json"
    desk = Desk(tw.workbench.Session(X, Y), save_to=str(place))
    assert desk.save() == {}
    place.write_text("mine")
    answer = desk.ask({"ask": "do", "do": "grow", "path": "", "given": {"levels": 1}, "revision": 0})
    assert "changed by somebody else" in answer["warning"]
    assert place.read_text() == "mine"
    assert answer["state"]["at"] == 1
    blocked = Desk(tw.workbench.Session(X, Y), save_to=str(tmp_path / "no" / "s.json"))
    answer = blocked.ask({"ask": "do", "do": "grow", "path": "", "given": {"levels": 1}, "revision": 0})
    assert "could not be saved" in answer["warning"]
    assert answer["state"]["at"] == 1


def test_a_hundred_thousand_levels_are_asked_and_shown():
    n = 100_000
    codes = RNG.permutation(n)
    table = pl.DataFrame({"id": pl.Series([f"k{code}" for code in codes.tolist()]), "x": RNG.normal(size=n)})
    session = tw.workbench.Session(table, (codes % 2), held_out=0, nominal=["id"], min_samples_leaf=100)
    desk = Desk(session)
    found = desk.ask({"ask": "candidates", "path": ""})
    assert ([each["column"] for each in found["candidates"]], found["others"]) == ([1], [0])
    answer = desk.ask({"ask": "column", "path": "", "column": 0})
    assert len(answer["picture"]["levels"]) == 200
    assert answer["picture"]["n_others"] == n - 200
    code = answer["picture"]["levels"][0]["code"]
    asked = {"column": 0, "moved": {str(code): 1 - answer["picture"]["levels"][0]["branch"]}}
    done = desk.ask({"ask": "do", "do": "split", "path": "", "given": asked, "revision": 0})
    assert done["state"]["tree"]["n_leaves"] == 2
    assert len(json.dumps(done)) < 1_000_000


@pytest.mark.slow
def test_ten_thousand_leaves_are_a_state_that_can_be_sent():
    n = 40_000
    table = pl.DataFrame({f"x{at}": RNG.normal(size=n) for at in range(3)})
    session = tw.workbench.Session(table, RNG.integers(0, 2, n), held_out=0)
    desk = Desk(session)
    answer = desk.ask({"ask": "do", "do": "grow", "path": "", "given": {}, "revision": 0})
    assert answer["state"]["tree"]["n_leaves"] > 10_000
    assert len(answer["state"]["tree"]["nodes"]) <= 4_001
    assert len(json.dumps(answer)) < 6_000_000
    pruned = desk.ask({"ask": "do", "do": "prune", "path": "", "given": {"leaves": 50}, "revision": 1})
    assert pruned["state"]["tree"]["n_leaves"] <= 50
    desk.ask({"ask": "undo", "revision": 2})
    again = tw.workbench.Session.from_dict(json.loads(json.dumps(session.to_dict())), table, session._table[1])
    assert dumps(again.model) == dumps(session.model)


def test_a_port_that_is_taken_is_said(server):
    with pytest.raises(ParameterError, match="cannot be used"):
        Server(Desk(tw.workbench.Session(X, Y)), server.port)


def test_libraries_that_lack_are_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(MissingLibraryError, match=r"treewright\[workbench\]"):
        Server(Desk(tw.workbench.Session(X, Y)))
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(MissingLibraryError, match=r"treewright\[widget\]"):
        tw.workbench.Session(X, Y).widget()


def test_requests_of_many_threads_are_done_one_at_a_time():
    desk = Desk(tw.workbench.Session(X, Y))
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                desk.ask({"ask": "do", "do": "grow", "path": "", "given": {"levels": 1}, "revision": 0})
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("error" not in answer for answer in answers) == 1
    assert (desk.revision, len(desk.session.log)) == (1, 1)


def test_a_screen_that_has_gone_is_forgotten(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/events", headers={"X-Treewright-Token": server.token})
    connection.getresponse().read(1)
    assert len(server.desk._listeners) == 1
    connection.close()
    for _ in range(200):
        server.desk.tell({"revision": server.desk.revision})
        time.sleep(0.05)
        if not server.desk._listeners:
            break
    assert server.desk._listeners == []
