"""The page in a real browser: what a curator does all day, by mouse and by keyboard alone."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from browser import open_browser
from cli_files import run
from pairgram.graph import TextGraph
from pairgram.map import Map
from pairgram.map.build import Group
from pairgram.map.html import write_html
from pairgram.serve.served import Holder
from serving import bearer, post, running, save_world
from worlds import build, world

selenium = pytest.importorskip("selenium", reason="the extra 'dev' brings selenium")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

MAP_READY = "return !!(window.page && page.map?.view && page.map.view.frames.length)"


@pytest.fixture(scope="module")
def holder(tmp_path_factory):
    return Holder(save_world(tmp_path_factory.mktemp("page") / "model"))


@pytest.fixture(scope="module")
def server(holder):
    with running(holder) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    downloads = tmp_path_factory.mktemp("downloads")
    with open_browser(downloads=downloads) as browser:
        browser.downloads = downloads
        yield browser


@pytest.fixture
def page(browser, server):
    """The page as a newcomer finds it; no error may be left in its log."""
    browser.get(f"{server.address}/health")
    browser.execute_script("localStorage.clear(); sessionStorage.clear()")
    browser.get_log("browser")
    browser.get(server.address)
    wait(browser, MAP_READY)
    yield browser
    assert browser.get_log("browser") == []


def wait(browser, script, seconds=20):
    """What a script gives, as soon as that is true."""
    until = time.monotonic() + seconds
    while not (value := browser.execute_script(script)):
        assert time.monotonic() < until, script
        time.sleep(0.03)
    return value


def by_id(browser, name):
    return browser.find_element(By.ID, name)


def rows(browser):
    return browser.find_elements(By.CSS_SELECTOR, "#list > li")


def write(browser, text):
    by_id(browser, "text").send_keys(text)
    last = json.dumps(text.lower().split()[-1])
    wait(browser, f"return page.answer && page.answer.words.includes({last})")
    wait(browser, "return document.querySelectorAll('#list > li').length > 0")


def press(browser, *keys):
    browser.switch_to.active_element.send_keys(*keys)


def focus(browser):
    return browser.switch_to.active_element


def decided(browser):
    return browser.execute_script(
        "return page.decisions.list.map((d) => [d.source, d.target, d.verdict])"
    )


def test_suggestions_come_as_you_type_with_the_words_marked(page):
    assert by_id(page, "empty").is_displayed()
    write(page, "blue boat")
    first = rows(page)[0]
    marks = [mark.text for mark in first.find_elements(By.TAG_NAME, "mark")]
    assert marks == ["blue", "boat"]
    assert "2 shared words" in first.text
    assert "links" in first.text
    assert not by_id(page, "empty").is_displayed()
    assert "12 suggestions" in by_id(page, "status").text
    # The item lies on the map, with a line to every suggestion.
    here, lines = page.execute_script(
        "return [page.map.view.marks.here, page.map.view.marks.lines.length]"
    )
    assert np.isfinite(here).all()
    assert lines == 12
    by_id(page, "text").clear()
    by_id(page, "text").send_keys(" ")
    wait(page, "return !document.getElementById('empty').hidden")
    assert rows(page) == []
    assert page.execute_script("return page.map.view.marks.here") is None


def test_accept_reject_undo_and_export_by_mouse(page):
    write(page, "red apple")
    names = [row.get_attribute("data-node") for row in rows(page)]
    page.find_elements(By.CSS_SELECTOR, ".yes")[0].click()
    page.find_elements(By.CSS_SELECTOR, ".no")[1].click()
    page.find_elements(By.CSS_SELECTOR, ".yes")[2].click()
    assert by_id(page, "counts").text == "2 accepted, 1 rejected"
    assert rows(page)[0].get_attribute("class") == "accept"
    assert rows(page)[1].get_attribute("class") == "reject"
    # Another verdict takes the place of the first; undo brings that back.
    page.find_elements(By.CSS_SELECTOR, ".no")[2].click()
    assert by_id(page, "counts").text == "1 accepted, 2 rejected"
    by_id(page, "undo").click()
    assert by_id(page, "counts").text == "2 accepted, 1 rejected"
    # The same verdict again takes it back, and that can be undone too.
    page.find_elements(By.CSS_SELECTOR, ".yes")[0].click()
    assert by_id(page, "counts").text == "1 accepted, 1 rejected"
    by_id(page, "undo").click()
    assert by_id(page, "counts").text == "2 accepted, 1 rejected"
    assert by_id(page, "status").text.startswith("Again: accepted")
    for name, wanted in (
        ("links", f"new-1\t{names[0]}\nnew-1\t{names[2]}\n"), ("items", "new-1\tred apple\n"),
    ):  # fmt: skip
        by_id(page, f"export-{name}").click()
        file = page.downloads / f"{name}.tsv"
        until = time.monotonic() + 10
        while not file.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert file.read_text() == wanted
        file.unlink()
    # Kept: the same after the page is loaded again.
    page.refresh()
    wait(page, "return window.page && page.answer")
    assert by_id(page, "text").get_attribute("value") == "red apple"
    assert by_id(page, "counts").text == "2 accepted, 1 rejected"
    assert rows(page)[0].get_attribute("class") == "accept"
    for _ in range(3):
        by_id(page, "undo").click()
    assert not by_id(page, "undo").is_enabled()
    assert not by_id(page, "export-links").is_enabled()
    assert decided(page) == []


def test_everything_works_by_keyboard_alone(page):
    press(page, Keys.TAB)
    assert focus(page).text == "Skip to the text box"
    press(page, Keys.ENTER)
    assert focus(page) == by_id(page, "text")
    write(page, "blue boat")
    press(page, Keys.ARROW_DOWN)
    assert focus(page) == rows(page)[0].find_element(By.CLASS_NAME, "open")
    names = [row.get_attribute("data-node") for row in rows(page)]
    press(page, "a")
    press(page, "r")
    assert decided(page) == [["new-1", names[0], "accept"], ["new-1", names[1], "reject"]]
    press(page, Keys.ENTER)
    assert focus(page).get_attribute("aria-expanded") == "true"
    press(page, Keys.ARROW_UP)
    press(page, "u")
    assert decided(page) == [["new-1", names[0], "accept"]]
    press(page, Keys.CONTROL, "z")
    assert decided(page) == []
    # A known node: found, opened, asked about.
    press(page, "/")
    assert focus(page) == by_id(page, "find")
    press(page, "apple")
    wait(page, "return document.querySelectorAll('#found [data-node]').length > 2")
    press(page, Keys.ARROW_DOWN)
    chosen = page.find_element(By.CSS_SELECTOR, "#found [aria-selected=true]").get_attribute(
        "data-node"
    )
    press(page, Keys.ENTER)
    wait(page, "return !document.getElementById('node').hidden")
    assert chosen in by_id(page, "node").text
    assert "Neighbours" in by_id(page, "node").text
    press(page, Keys.TAB)
    press(page, Keys.ENTER)
    wait(page, f"return page.answer && page.query.node === {json.dumps(chosen)}")
    assert by_id(page, "text-label").text == f"Links of {chosen}"
    # The map moves and zooms; help opens and closes; Escape goes back; the next item is empty.
    by_id(page, "map").send_keys("0", Keys.ARROW_RIGHT, "+")
    assert page.execute_script("return page.map.view.zoom") == 1.4
    press(page, "0")
    assert page.execute_script("return page.map.view.zoom") == 1
    press(page, "?")
    assert by_id(page, "help").is_displayed()
    press(page, Keys.ESCAPE)
    press(page, Keys.ESCAPE)
    assert focus(page) == by_id(page, "text")
    press(page, Keys.CONTROL, Keys.ENTER)
    assert by_id(page, "text").get_attribute("value") == ""
    assert rows(page) == []


def test_screen_readers_are_told(page):
    named = page.execute_script(
        """return [...document.querySelectorAll("button, input, textarea, canvas, summary")].filter(
             (e) => e.checkVisibility()).map((e) => (e.getAttribute("aria-label")
             || e.labels?.[0]?.textContent || e.textContent).trim())"""
    )
    assert len(named) > 12
    assert all(named)
    assert by_id(page, "status").get_attribute("role") == "status"
    assert page.execute_script("return document.documentElement.lang") == "en"
    write(page, "red apple")
    labels = [
        b.get_attribute("aria-label") for b in page.find_elements(By.CSS_SELECTOR, ".acts button")
    ]
    assert labels[0].startswith("Accept ")
    assert labels[1].startswith("Reject ")
    assert len(set(labels)) == len(labels)


def test_a_very_long_text_is_refused_in_words(page):
    fill = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.execute_script(fill, by_id(page, "text"), "x" * 50_000)
    wait(page, "return document.getElementById('status').classList.contains('wrong')")
    assert by_id(page, "status").text.startswith("The text has 50,000 characters")
    page.execute_script(fill, by_id(page, "text"), "boat " * 3_000)
    wait(page, "return page.answer && page.answer.words[0] === 'boat'")
    assert len(rows(page)) == 12


def test_nodes_open_from_the_map(page):
    page.execute_script("page.map.view.home()")
    place = page.execute_script(
        """const v = page.map.view, [x, y] = v.screen(v.points[0], v.points[1]);
           const box = v.canvas.getBoundingClientRect();
           return [Math.round(box.left + x / v.ratio), Math.round(box.top + y / v.ratio)];"""
    )
    ActionChains(page).move_by_offset(*place).click().perform()
    wait(page, "return !document.getElementById('node').hidden")
    card = by_id(page, "node").text
    assert "red apple" in card or "blue boat" in card
    ActionChains(page).move_by_offset(-place[0], -place[1]).perform()
    # One group alone.
    page.find_element(By.CSS_SELECTOR, "#groups button").click()
    assert page.execute_script("return page.map.view.only") == 0
    page.find_element(By.CSS_SELECTOR, "#groups button").click()
    assert page.execute_script("return page.map.view.only") is None


def test_reasons_are_shown_and_a_node_is_added(page, holder):
    write(page, "blue boat")
    page.find_elements(By.CSS_SELECTOR, ".open")[0].click()
    words = wait(
        page,
        "return [...document.querySelectorAll('.reasons .words li')].map((e) => e.textContent)",
    )
    assert {"blue", "boat"} <= set(words)
    assert page.find_elements(By.CSS_SELECTOR, ".reasons .near li")
    by_id(page, "add").click()
    wait(page, "return document.getElementById('token').open")
    by_id(page, "token-value").send_keys("wrong", Keys.ENTER)
    wait(page, "return document.getElementById('status').classList.contains('wrong')")
    by_id(page, "add").click()
    wait(page, "return document.getElementById('token').open")
    by_id(page, "token-value").send_keys("a secret", Keys.ENTER)
    wait(page, "return document.getElementById('status').textContent.includes('is a node')")
    assert holder.current.model.node_text("new-1") == "blue boat"
    assert "17 nodes" in by_id(page, "model").text
    holder.current.model.remove(["new-1"])
    assert all("401" in line["message"] for line in page.get_log("browser"))


def test_light_and_dark(page):
    def paper():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    light = paper()
    by_id(page, "theme").click()
    assert paper() != light
    page.refresh()
    wait(page, MAP_READY)
    assert paper() != light
    by_id(page, "theme").click()
    assert paper() == light


def test_the_server_goes_and_comes_back(browser, holder):
    with running(holder) as server:
        port = server.port
        browser.get(server.address)
        browser.execute_script("localStorage.clear()")
        browser.get(server.address)
        wait(browser, MAP_READY)
        write(browser, "red apple")
        browser.find_elements(By.CSS_SELECTOR, ".yes")[0].click()
    by_id(browser, "text").send_keys(" blue")
    wait(browser, "return !document.getElementById('gone').hidden")
    assert len(rows(browser)) == 12
    assert by_id(browser, "counts").text == "1 accepted, 0 rejected"
    with running(holder, port=port):
        wait(browser, "return document.getElementById('gone').hidden")
        wait(browser, "return page.answer.words.includes('blue')")
    browser.get_log("browser")  # that nobody answered is in there


def test_a_new_model_is_taken_up(browser, tmp_path):
    """After a reload the map and the counts are those of the new model, decisions stay."""
    holder = Holder(save_world(tmp_path / "model"))
    with running(holder) as server:
        browser.get(server.address)
        browser.execute_script("localStorage.clear(); sessionStorage.clear()")
        browser.get(server.address)
        wait(browser, MAP_READY)
        browser.get_log("browser")
        write(browser, "red apple")
        browser.find_elements(By.CSS_SELECTOR, ".yes")[0].click()
        by_id(browser, "text").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE)
        graph = world(extra=["later"]).with_labels({"a0": "umber", "b0": "plain"})
        build("tge").fit(graph).save(tmp_path / "model")
        assert post(server.port, "/reload", None, headers=bearer())[0] == 200
        write(browser, "blue boat")
        wait(browser, "return page.map.view.points.length === 34")
        assert "17 nodes" in by_id(browser, "model").text
        assert by_id(browser, "counts").text == "1 accepted, 0 rejected"
        # A letter that chooses in a list is no command.
        by_id(browser, "label").send_keys("u")
        assert by_id(browser, "counts").text == "1 accepted, 0 rejected"
        # The links of a node that was picked have the focus.
        by_id(browser, "find").send_keys("b3")
        wait(browser, "return document.querySelector('#found [data-node]')")
        by_id(browser, "find").send_keys(Keys.ENTER)
        wait(browser, "return document.querySelector('#node .main')")
        browser.find_element(By.CSS_SELECTOR, "#node .main").send_keys(Keys.ENTER)
        wait(browser, "return page.focused() === 0 && page.query.kind === 'node'")
        browser.refresh()
        wait(browser, MAP_READY)
        assert by_id(browser, "counts").text == "1 accepted, 0 rejected"
        exported = browser.execute_script("return page.decisions.items()")
        assert exported.split("\t")[0] == "new-1"
    assert browser.get_log("browser") == []


def test_a_private_server_asks_for_its_token(browser, holder):
    with running(holder, private=True) as server:
        browser.get(server.address)
        browser.execute_script("localStorage.clear(); sessionStorage.clear()")
        browser.get(server.address)
        wait(browser, "return document.getElementById('token').open")
        assert rows(browser) == []
        by_id(browser, "token-value").send_keys("a secret", Keys.ENTER)
        wait(browser, MAP_READY)
        write(browser, "red apple")
        assert rows(browser)[0].get_attribute("data-node")[0] == "a"
        assert not browser.execute_script("return document.getElementById('token').open")
    browser.get_log("browser")


@pytest.mark.slow
def test_the_model_of_the_demo(browser, tmp_path):
    """On ICD-10-CM; PAIRGRAM_DEMO names the folder of an earlier `pairgram demo`."""
    demo = Path(os.environ.get("PAIRGRAM_DEMO", tmp_path))
    if not (demo / "icd10cm").exists():
        run("demo", "-o", demo)
    with running(Holder(demo / "icd10cm")) as server:
        browser.get(server.address)
        browser.execute_script("localStorage.clear(); sessionStorage.clear()")
        browser.get(server.address)
        wait(browser, MAP_READY, 300)
        write(browser, "Asthma attack brought on by exercise")
        shown = [row.get_attribute("data-node") for row in rows(browser)]
        assert "J45" in shown[:3]
        press(browser, Keys.ARROW_DOWN)
        press(browser, "a")
        assert decided(browser) == [["new-1", shown[0], "accept"]]
        by_id(browser, "find").send_keys("migraine with aura")
        wait(browser, "return document.querySelectorAll('#found [data-node]').length > 2")
        by_id(browser, "find").send_keys(Keys.ENTER)
        wait(browser, "return !document.getElementById('node').hidden")
        assert "G43" in by_id(browser, "node").text
        assert browser.execute_script("return page.map.view.group.length") > 90_000
    browser.get_log("browser")


@pytest.fixture(scope="module")
def large_map(tmp_path_factory):
    """A page of 220,000 points in 300 clouds."""
    n, clouds = 220_000, 300
    random = np.random.default_rng(0)
    group = random.integers(0, clouds, n).astype(np.uint16)
    points = random.uniform(-0.9, 0.9, (clouds, 2))[group] + random.normal(0, 0.03, (n, 2))
    points = np.clip(points, -1, 1).astype(np.float32)
    sizes = np.bincount(group, minlength=clouds)
    groups = tuple(Group(f"cloud {i}", int(size)) for i, size in enumerate(sizes))
    ends = random.integers(0, n, (2, 10))
    graph = TextGraph.from_edges(*ends, names=[str(i) for i in range(n)])
    file = tmp_path_factory.mktemp("map") / "map.html"
    write_html(file, Map(points, group, groups, "pca", "label"), graph, "large")
    return file


def pan(browser):
    """Milliseconds from frame to frame, as the browser gives them, on a way across the map."""
    return browser.execute_async_script(
        """const done = arguments[0], v = window.view, times = [];
           const step = (now) => {
             times.push(now);
             v.panBy(12 * Math.cos(times.length / 9), 12 * Math.sin(times.length / 9));
             if (times.length < 61) requestAnimationFrame(step);
             else done(times.slice(1).map((time, i) => time - times[i]));
           };
           requestAnimationFrame(step);"""
    )


@pytest.mark.alone
def test_220000_points_move_smoothly(browser, large_map):
    browser.get_log("browser")
    browser.get(large_map.as_uri())
    wait(browser, "return !!(window.view && view.frames.length)", 60)
    frames = pan(browser)
    assert browser.execute_script("return view.drawn") > 50_000
    assert np.median(frames) < 33, frames
    # Closer in, fewer points are looked at, and single nodes are named.
    browser.execute_script("[view.cx, view.cy] = view.points; view.zoomBy(3000)")
    wait(browser, "return view.drawn < 5000")
    assert wait(browser, "return view.known.get(0)") == "0"
    assert browser.get_log("browser") == []
