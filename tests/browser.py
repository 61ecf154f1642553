"""A headless Chromium for tests; `PAIRGRAM_BROWSER=required` makes its absence a failure."""

import os
import shutil
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser():
    """Paths of a browser and its driver; skips the test where there are none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser and driver:
        return browser, driver
    said = "no Chromium with chromedriver here: install chromium and chromium-driver"
    if os.environ.get("PAIRGRAM_BROWSER") == "required":
        pytest.fail(said)
    pytest.skip(said)


@contextmanager
def open_browser(width=1360, height=820, dark=False, downloads=None):
    """A browser window of some size."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    browser, driver = find_browser()
    options = ChromeOptions()
    options.binary_location = browser
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
        "--hide-scrollbars", f"--window-size={width},{height}", "--force-device-scale-factor=1",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
    ):  # fmt: skip
        options.add_argument(flag)
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = Chrome(options, Service(driver))
    made.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        yield made
    finally:
        made.quit()
