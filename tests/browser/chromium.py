"""A headless Chromium for the tests of pages."""
import os
import shutil
import sys

FLAGS = ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900", "--no-first-run", "--disable-ipc-flooding-protection",
         "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions")


def skip(why):
    """A machine on which the browser cannot run: nothing about the pages."""
    print("1..0 # SKIP " + why)
    sys.exit(77)


try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    skip("python3-selenium is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
if not CHROMIUM or not CHROMEDRIVER:
    skip("chromium or chromium-driver is not installed")


def start(seconds):
    """A browser that keeps what pages log; a page and a script may take so many seconds."""
    options = Options()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        d = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    except Exception as e:
        skip("chromium does not start: " + str(e).split("\n")[0])
    d.set_script_timeout(seconds)
    d.set_page_load_timeout(seconds)
    return d
