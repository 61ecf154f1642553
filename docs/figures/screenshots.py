"""Pictures of the page and the map for the docs, from the demo's model.

Needs Chromium with chromedriver, demo/icd10cm (`make demo`) and for the map demo/map.parquet
(`pairgram map demo/icd10cm -o demo/map.parquet`). Run: python docs/figures/screenshots.py [DEMO]
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "tests"))

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from browser import open_browser  # noqa: E402
from pairgram.map.png import write_png  # noqa: E402
from pairgram.serve.served import Holder  # noqa: E402
from serving import running  # noqa: E402

OUT = ROOT / "docs" / "pictures"
TEXT = "Type 2 diabetes with numbness of both feet"


def wait(browser, script):
    until = time.monotonic() + 120
    while not browser.execute_script(script):
        if time.monotonic() > until:
            raise TimeoutError(script)
        time.sleep(0.1)
    time.sleep(1)  # the map glides, pictures do not


def write(browser, address):
    """Open the page and type a text."""
    browser.get(address)
    wait(browser, "return !!(window.page && page.map?.view && page.map.view.frames.length)")
    browser.find_element(By.ID, "text").send_keys(TEXT)
    wait(browser, "return page.answer && page.answer.words.includes('feet')")


def press(browser, *keys):
    browser.switch_to.active_element.send_keys(*keys)
    time.sleep(0.3)


def main() -> None:
    demo = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo"
    table = demo / "map.parquet"
    holder = Holder(demo / "icd10cm", table if table.exists() else None)
    OUT.mkdir(exist_ok=True)
    write_png(OUT / "map.png", holder.current.map, 900)
    with running(holder) as server:
        for name, dark in (("page-light", False), ("page-dark", True)):
            with open_browser(dark=dark) as browser:
                write(browser, server.address)
                if dark:
                    browser.execute_script("page.openNode('E11')")
                    wait(browser, "return !document.getElementById('node').hidden")
                browser.save_screenshot(str(OUT / f"{name}.png"))
        with open_browser() as browser:
            write(browser, server.address)
            press(browser, Keys.ARROW_DOWN)
            press(browser, "a")
            press(browser, "r")
            press(browser, Keys.ENTER)
            wait(browser, "return document.querySelectorAll('.reasons .words li').length > 0")
            browser.save_screenshot(str(OUT / "page-reasons.png"))
    for path in sorted(OUT.glob("*.png")):
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
