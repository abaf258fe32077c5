"""A headless Chromium for tests, driven over the DevTools protocol through a pipe: no web driver, no port, no package."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"]


def find_browser():
    """Path of a browser of the Chromium kind, or None. ATTNPROF_BROWSER names one."""
    asked = os.environ.get("ATTNPROF_BROWSER")
    return asked or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. Collects what a careful page never does: errors, console output and requests."""

    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(prefix="attnprof-browser-", ignore_cleanup_errors=True)
        command_in, self.out = os.pipe()
        self.into, events_out = os.pipe()
        arguments = [path, "--remote-debugging-pipe", "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                     f"--user-data-dir={self.profile.name}", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # it refuses to start as root otherwise
        # The protocol's pipe is descriptors 3 (commands) and 4 (answers).
        shell = f'exec "$@" 3<&{command_in} 4>&{events_out}'
        self.process = subprocess.Popen(["bash", "-c", shell, "browser", *arguments], pass_fds=(command_in, events_out),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_in)
        os.close(events_out)
        self.buffer, self.last, self.session = b"", 0, None
        self.errors, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.size(1280, 900)

    def close(self):
        os.close(self.out)
        os.close(self.into)
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                assert "error" not in answer, f"{method}: {answer['error']['message']}"
                return answer["result"]

    def receive(self):
        end = time.monotonic() + 30
        while b"\0" not in self.buffer:
            assert select.select([self.into], [], [], max(0, end - time.monotonic()))[0], "the browser does not answer"
            piece = os.read(self.into, 1 << 20)
            assert piece, "the browser ended"
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.take(message.get("method"), message.get("params", {}))
        return message

    def take(self, event, parameters):
        if event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Runtime.consoleAPICalled":
            self.errors.append(f"console.{parameters['type']}")
        elif event == "Log.entryAdded":
            self.errors.append(parameters["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event == "Page.loadEventFired":
            self.loaded = True

    def open(self, path):
        self.errors, self.requests, self.loaded = [], [], False
        self.call("Page.navigate", url=f"file://{path}")
        while not self.loaded:
            self.receive()

    def run(self, script):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, f"{script}: {result['exceptionDetails'].get('exception', {}).get('description')}"
        return result["result"].get("value")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")

    def middle(self, selector):
        script = f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})"
        self.run(script)
        return self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                        " return [box.x + box.width / 2, box.y + box.height / 2]; })()")

    def hover(self, selector):
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        """As a person does it: at the place where the element is, whatever lies on top of it."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name, code=0):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        """Sets a <select> as choosing from it does."""
        self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}); box.value = {json.dumps(value)};"
                 " box.dispatchEvent(new Event('change', {bubbles: true})); })()")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def screenshot(self, path, whole=True):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                            **({"clip": self.whole_page()} if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def whole_page(self):
        box = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": box["width"], "height": box["height"], "scale": 1}
