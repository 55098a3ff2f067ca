"""A headless Chromium, driven by the DevTools protocol."""
import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import urllib.request

import websockets


class Browser:
    """One page. Collects its console errors, exceptions, security violations and the addresses it requests."""

    def __init__(self):
        self.faults, self.requests = [], []
        self._number, self._waiting = 0, {}

    async def __aenter__(self):
        self._profile = tempfile.mkdtemp()
        self._process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             f"--user-data-dir={self._profile}", "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = None
        for line in self._process.stderr:
            if "DevTools listening on" in line:
                port = line.split(":")[-1].split("/")[0]
                break
        # Its later messages aren't read, and must not fill the pipe.
        self._drain = asyncio.get_running_loop().run_in_executor(None, self._process.stderr.read)
        targets = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        page = next(target for target in targets if target["type"] == "page")
        self._socket = await websockets.connect(page["webSocketDebuggerUrl"], max_size=1 << 28)
        self._reader = asyncio.create_task(self._read())
        for domain in ["Page", "Runtime", "Network", "Log"]:
            await self.call(f"{domain}.enable")
        return self

    async def __aexit__(self, *_):
        self._reader.cancel()
        await self._socket.close()
        self._process.terminate()
        self._process.wait()
        await self._drain
        shutil.rmtree(self._profile, ignore_errors=True)

    async def _read(self):
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                self._waiting.pop(message["id"]).set_result(message)
            elif message["method"] == "Runtime.exceptionThrown":
                details = message["params"]["exceptionDetails"]
                self.faults.append(details.get("exception", {}).get("description") or details["text"])
            elif message["method"] == "Runtime.consoleAPICalled" and message["params"]["type"] in ("error", "warning"):
                self.faults.append(str(message["params"]["args"]))
            elif message["method"] == "Log.entryAdded" and message["params"]["entry"]["level"] in ("error", "warning"):
                self.faults.append(message["params"]["entry"]["text"])
            elif message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    async def call(self, method, **parameters):
        self._number += 1
        future = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        message = await asyncio.wait_for(future, 60)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    async def run(self, script):
        """Returns the value of an expression, which may be a promise."""
        result = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    async def until(self, script, seconds=60):
        """Waits until an expression is true."""
        for _ in range(int(seconds * 20)):
            if await self.run(f"Boolean({script})"):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never true: {script}; the page says {await self.run('document.body.innerText.slice(0, 2000)')}")

    async def window(self, width, height, dark=False):
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    async def picture(self, path):
        result = await self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(result["data"]))

    async def key(self, key):
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
