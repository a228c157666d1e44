"""What people see of models and results in a terminal and in a notebook."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdfold as cf
from crowdfold import _progress


class Balance(HTMLParser):
    """Complains of tags that do not close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def balanced(html: str) -> str:
    parser = Balance()
    parser.feed(html)
    assert not parser.open
    return html


def test_a_model_shows_what_was_fitted_its_answers_and_the_worst_workers(frame: pd.DataFrame) -> None:
    model = cf.ThreePass().fit(frame)
    html = balanced(model._repr_html_())
    worst = model.workers_["quality"].sort_values().index
    assert "ThreePass(), fitted to 300 tasks, 25 workers" in html.replace("<b>", "").replace("</b>", "")
    assert all(str(name) in html for name in [*frame["label"].unique(), *worst[:5]]) and str(worst[-1]) not in html
    assert f"{model.workers_.loc[worst[0], 'lower']:.2f} to" in html
    assert balanced(cf.ThreePass()._repr_html_()) == "<code>ThreePass()</code>"
    assert "has not converged" in cf.DawidSkene(1, tol=1e-9).fit(frame)._repr_html_()


def test_names_cannot_break_out_of_the_html() -> None:
    evil = "<script>alert(1)</script>"
    model = cf.TwoPass().fit([("t", evil, evil), ("t", "v", "b")])
    assert "<script" not in balanced(model._repr_html_()) and "&lt;script&gt;" in model._repr_html_()
    assert "<script" not in balanced(cf.TwoPass().fit({"task": ["t"], "worker": [evil], "label": [evil]}).workers_._repr_html_())


@pytest.mark.parametrize("count", [0, 3, 10, 11, 1000])
def test_series_and_frames_print_rows(count: int) -> None:
    series = cf.Series(np.linspace(0, 1, count), np.array([f"t{i}" for i in range(count)], dtype=object), "confidence", "task")
    lines = repr(series).splitlines()
    assert lines[0].split() == ["task", "confidence"] and lines[-1] == f"Series, {count} values"
    assert len(lines) == min(count, 11 if count > 10 else 10) + 2
    if count > 0:
        assert lines[1].split() == ["t0", "0"] and lines[-2].split()[0] == f"t{count - 1}"
    frame = cf.Frame({"worker": series.index, "labels": np.arange(count)})
    assert repr(frame).splitlines()[-1] == f"Frame, {count} rows"
    balanced(series._repr_html_() + frame._repr_html_())


def test_a_report_is_shown_and_saved(frame: pd.DataFrame, truth: pd.Series, tmp_path: Any) -> None:
    model = cf.TwoPass().fit(frame, truth.iloc[:60])
    try:
        page = model.report(tmp_path / "report.json", title="Photos")
    except cf.UsageError as error:
        if "Node.js" not in str(error):
            raise
        pytest.skip("crowdfold was built without the page of reports")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["title"] == "Photos"
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html
    assert page._repr_html_().startswith("<iframe srcdoc=") and page.headline in repr(page)
    assert "<html" in page.html and "<html" not in page._repr_html_()


def test_a_fit_that_a_report_could_not_repeat_has_none(frame: pd.DataFrame, tmp_path: Any) -> None:
    model = cf.TwoPass().fit(frame)
    model.save(tmp_path / "workers.csv")
    for without in (cf.MajorityVote().fit(frame, dict.fromkeys(frame["worker"], 1.0)), pickle.loads(pickle.dumps(model)),
                    cf.TwoPass().fit(frame, workers=tmp_path / "workers.csv"), cf.TwoPass().partial_fit(frame)):
        with pytest.raises(cf.UsageError, match="report: there is none of this fit"):
            without.report()
    with pytest.raises(cf.NotFittedError):
        cf.TwoPass().report()


def test_arguments_of_fit_are_sent_there() -> None:
    for arguments in ({"columns": {}}, {"true_labels": {}}, {"fold_case": True}):
        with pytest.raises(TypeError, match=r"is an argument of fit, as in ThreePass\(\).fit\(data, "):
            cf.ThreePass(**arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        cf.ThreePass(colour=1)


def test_progress_is_one_bar_that_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm.auto

    made: list[Any] = []

    class Recorder(tqdm.auto.tqdm):  # type: ignore[type-arg,misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options, disable=False)
            self.seen: list[tuple[str, int]] = []
            made.append(self)

        def refresh(self, *args: Any, **options: Any) -> None:
            if hasattr(self, "seen"):
                self.seen.append((self.desc, self.n))

    monkeypatch.setattr(tqdm.auto, "tqdm", Recorder)
    with _progress.Progress() as bar:
        for stage, done, total in (("reading", 0, 10), ("reading", 7, 10), ("ds", 1, 3), ("ds", 2, 3)):
            bar(stage, done, total)
    assert len(made) == 1
    seen = [(desc.rstrip(": "), n) for desc, n in made[0].seen]
    assert [pair for pair in seen if pair in (("reading", 7), ("ds", 1), ("ds", 2))] and seen[-1][0] == "ds"
    assert ("reading", 7) in seen and ("ds", 2) in seen and made[0].n == 3


def test_plots_write_files_of_any_kind(frame: pd.DataFrame, truth: pd.Series, tmp_path: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    model = cf.DawidSkene().fit(frame)
    cf.plot.workers(model, path=tmp_path / "workers.png")
    cf.plot.calibration(model, truth, path=tmp_path / "calibration.svg")
    axes = cf.plot.confusion(model, worker=frame["worker"][0], path=tmp_path / "confusion.pdf")
    assert axes.get_title(loc="left") == f"Labels of {frame['worker'][0]} by true class"
    heads = {"workers.png": b"\x89PNG", "calibration.svg": b"<?xml", "confusion.pdf": b"%PDF"}
    assert all((tmp_path / name).read_bytes().startswith(head) for name, head in heads.items())
    with pytest.raises(cf.UsageError, match="no worker 'nobody'"):
        cf.plot.confusion(model, worker="nobody")


def test_every_option_says_whether_to_touch_it() -> None:
    assert "stop when" in str(cf.DawidSkene.__doc__) and "Leave it; to have all iterations, set 0." in str(cf.DawidSkene.__doc__)
    assert "Raise it if `converged_` is False." in str(cf.DawidSkene.__doc__)
    assert "Leave it." in str(cf.ThreePass.__doc__)
