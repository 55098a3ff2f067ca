"""Drives the inspector's page; see check."""
import asyncio
import json
import pathlib
import subprocess
import sys
import time

from browser import Browser

program, pictures = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
COUNT, RATE = 10_000, 2_000
STATUSES = [200, 201, 404, 500]
SECRET = "canary-0123456789-secret"


class Program:
    def __init__(self):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def _command(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = []
        while True:
            text = self.process.stdout.readline()
            if not text:
                raise AssertionError(f"the program ended at: {line}")
            if text.strip() == "done":
                return said
            said.append(text.strip())

    async def command(self, line):
        return await asyncio.to_thread(self._command, line)

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


async def picture(browser, name):
    if pictures:
        await browser.picture(str(pathlib.Path(pictures) / f"{name}.png"))


async def row(browser, text):
    """Scrolls until a row with a text is in sight, and clicks on it."""
    script = f"""(async () => {{
        const scroller = document.getElementById("scroller");
        const find = () => [...document.querySelectorAll(".row")].find(r => !r.hidden && r.innerText.includes({json.dumps(text)}));
        for (let top = 0; top <= scroller.scrollHeight && !find(); top += scroller.clientHeight / 2) {{
            scroller.scrollTop = top;
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        }}
        const row = find();
        if (row) row.click();
        return Boolean(row);
    }})()"""
    check(await browser.run(script), f"no row has {text}")
    await asyncio.sleep(0.4)


async def tab(browser, name):
    await browser.until(f"document.getElementById('tab-{name}')")
    await browser.run(f"document.getElementById('tab-{name}').click()")
    return await browser.run("document.getElementById('panel').innerText")


async def set_filter(browser, name, value):
    kind = "change" if name != "text" else "input"
    await browser.run(f"""(() => {{ const box = document.getElementById({json.dumps(name)});
        if (box.type === "checkbox") box.checked = {json.dumps(bool(value))}; else box.value = {json.dumps(value)};
        box.dispatchEvent(new Event("{kind}")); }})()""")


async def footer(browser, text):
    await browser.until(f"document.getElementById('footer').textContent.startsWith({json.dumps(text)})")


async def opens(browser):
    await browser.until("document.getElementById('connection')?.textContent === 'live'")
    check(await browser.run("location.search") == "", "the token stays in the address")
    check(await browser.run("document.cookie") == "", "a script can read the cookie")


async def shows_the_shop(browser, app):
    await app.command("shop")
    await footer(browser, "21 activities")
    tree = await browser.run("[...document.querySelectorAll('.row')].filter(r => !r.hidden).map(r => r.getAttribute('aria-level'))")
    check(tree[:8] == ["1", "2", "2", "3", "3", "3", "3", "2"], f"the tree is {tree}")
    await row(browser, "/v1/prices")
    text = await tab(browser, "overview")
    check("attempt 1 · 503" in text and "attempt 2 · 200" in text, text)
    await picture(browser, "overview")
    check("retry" in await tab(browser, "notes"), "the retry has no note")
    await row(browser, "old-prices")
    check("→ /v1/prices" in await tab(browser, "overview"), "the redirect has no target")
    await row(browser, "catalog")
    check("call" in await tab(browser, "explanation") and "transport" in await tab(browser, "explanation"), "no explanation")
    text = await tab(browser, "bodies")
    check("items" in text and "•••" in text and "0123456789abcdef" not in text, text)
    await picture(browser, "bodies")
    await row(browser, "unreachable")
    check("cannotConnect" in await tab(browser, "overview"), "the error isn't shown")
    await picture(browser, "failed")
    await row(browser, "Chat")
    check("hello" in await tab(browser, "messages"), "the socket's messages aren't shown")
    await picture(browser, "socket")
    await row(browser, "logo.png")
    await tab(browser, "bodies")
    await browser.until("document.querySelector('.body-image')?.naturalWidth === 8")
    await row(browser, "manual")
    text = await tab(browser, "bodies")
    check("manual: [200]" in text and "5.6 kB" in text and "92 B on the wire" in text, text)
    await row(browser, "news")
    text = await tab(browser, "messages")
    check("apples are back" in text and "plums are gone" in text, text)
    await picture(browser, "events")


async def shows_transfers(browser, app):
    await app.command("transfers")
    for name, part in [("film.mp4", "Received 3.0 MB of 8.0 MB · 37%"), ("backup", "Sent 2.0 MB of 4.0 MB · 50%"),
                       ("broken.mp4", "Received 5.0 MB of 8.0 MB · 62%")]:
        await row(browser, name)
        await browser.until(f"document.querySelector('#detail h2')?.innerText.includes('{name}')")
        await tab(browser, "overview")
        await browser.until(f"document.getElementById('panel').innerText.includes({json.dumps(part)})")
        value = await browser.run("(bar => bar.value / bar.max)(document.querySelector('#panel progress'))")
        check(0.3 < value < 0.7, f"{name} is at {value}")
    await browser.until("[...document.querySelectorAll('.row')].filter(r => !r.hidden && r.innerText.includes('%')).length >= 3")
    widths = await browser.run("[...document.querySelectorAll('.progress')].filter(p => !p.hidden && !p.parentElement.hidden).map(p => p.style.width)")
    check(sorted(widths) == ["25%", "37%", "50%", "62%"], f"the bars are {widths}")
    # The details of a running activity are drawn again and again. The focus stays where it is.
    await row(browser, "film.mp4")
    await browser.until("document.querySelector('#detail h2').innerText.includes('film.mp4')")
    await tab(browser, "overview")
    await picture(browser, "download")
    await tab(browser, "headers")
    await browser.run("document.getElementById('tab-headers').focus()")
    await picture(browser, "transfers")
    await app.command("finish")
    await browser.until("[...document.querySelectorAll('.progress')].filter(p => !p.hidden && !p.parentElement.hidden).length === 1")
    await browser.until("document.getElementById('panel') && !document.getElementById('detail').innerText.includes('running')")
    check(await browser.run("document.activeElement.id") == "tab-headers", "the focus is lost")
    await browser.run("document.querySelector('.close').click()")
    await browser.run("document.getElementById('clear').click()")
    await footer(browser, "0 activities")


async def speaks(browser, app):
    """The tree that a screen reader gets."""
    await browser.call("Accessibility.enable")
    tree = (await browser.call("Accessibility.getFullAXTree"))["nodes"]
    nodes = [(node["role"]["value"], node.get("name", {}).get("value", ""), node) for node in tree
             if not node.get("ignored") and "role" in node]
    names = {role: [name for found, name, _ in nodes if found == role] for role in {role for role, _, _ in nodes}}
    for role in ["button", "textbox", "searchbox", "combobox", "checkbox", "tab", "treegrid", "row", "spinbutton", "progressbar"]:
        unnamed = [name for name in names.get(role, []) if not name.strip()]
        check(not unnamed, f"{len(unnamed)} of role {role} have no name")
    check("Activities" in names["treegrid"], f"the grids are {names['treegrid']}")
    rows = names["row"]
    check(any(name.startswith("GET, /v1/prices, 200, 17 B, ") and "attempt 2" in name for name in rows), f"the rows are {rows}")
    check(any(name.startswith("GET, /v1/catalog, 200, ") and "cache" in name for name in rows), f"the rows are {rows}")
    check("Overview" in names["tab"], f"the tabs are {names['tab']}")
    selected = [name for role, name, node in nodes if role == "row" and any(
        p["name"] == "selected" and p["value"]["value"] for p in node.get("properties", []))]
    check(len(selected) == 1, f"selected are {selected}")
    await browser.call("Accessibility.disable")


async def shows_hostile_text(browser, app):
    await app.command("hostile")
    await footer(browser, "22 activities")
    await row(browser, "evil")
    for name in ["overview", "headers", "bodies"]:
        text = await tab(browser, name)
        check(SECRET not in text, f"a secret is shown in {name}")
        check("\x1b" not in text and "\u202e" not in text, f"an escape is shown in {name}")
    check("\\u{1B}" in text and "\\u{202E}" in text and "<script>" in text, text)
    check(await browser.run("document.title.includes('Errand inspector')"), "a script of a body ran")
    check(await browser.run("!document.querySelector('#panel img, #panel script, #rows b b')"), "a body became elements")
    html = await browser.run("document.documentElement.outerHTML")
    check(SECRET not in html, "a secret is in the page")
    archive = await browser.run("fetch('/archive').then(r => r.text())")
    check(SECRET not in archive and "evil.example" in archive, "the archive")


async def survives_many(browser, app):
    await browser.run("document.querySelector('.close').click()")
    await browser.run("document.getElementById('clear').click()")
    await footer(browser, "0 activities")
    frames = "window.longest = 0; (() => { let last = performance.now(); const tick = () => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(tick); }; tick(); })()"
    await browser.run(frames)
    start = time.monotonic()
    await app.command(f"send {COUNT} {RATE}")
    sent = time.monotonic() - start
    await footer(browser, "10,000 activities")
    shown = time.monotonic() - start
    longest = await browser.run("window.longest")
    elements = await browser.run("document.querySelectorAll('.row').length")
    check(elements < 100, f"{elements} rows have elements")
    print(f"inspector: {COUNT} exchanges sent in {sent:.1f} s, shown after {shown:.1f} s, longest frame {longest:.0f} ms")
    text = await browser.run("document.getElementById('footer').textContent")
    check("before this page read" not in text, text)
    # Each detail against the truth, for a sample.
    truth = f"""(async () => {{
        const wrong = [];
        const {{ log }} = await (await fetch("/archive")).json();
        log.entries.forEach((entry, index) => {{
            const number = Number(entry.request.url.split("/").pop());
            const body = JSON.parse(entry.response.content.text);
            if (number !== index || entry.response.status !== {STATUSES}[number % 4] || body.number !== number
                || body.padding.length !== number % 100) wrong.push(number);
        }});
        return [log.entries.length, wrong.slice(0, 5)];
    }})()"""
    check(await browser.run(truth) == [COUNT, []], "the archive is wrong")
    for number in [0, 1234, 9999]:
        await set_filter(browser, "text", f"items/{number}")
        await browser.until(f"[...document.querySelectorAll('.row')].some(r => !r.hidden && r.innerText.includes('/items/{number}'))")
        await row(browser, f"/items/{number}")
        text = await tab(browser, "overview")
        check(f"https://api.example.com/items/{number}\n" in text + "\n", text)
        check(str(STATUSES[number % 4]) in text, text)
        text = await tab(browser, "bodies")
        check(f"number: {number}" in text, text)
    await browser.run("document.querySelector('.close').click()")
    await picture(browser, "many")
    for name, value, count in [
        ("text", "items/99", 111), ("text", "", None), ("status", "4", 2500), ("status", "2", 5000), ("status", "running", 0),
        ("status", "", None), ("failed", True, 5000), ("failed", False, None), ("kind", "request", COUNT), ("kind", "", None),
        ("host", "api.example.com", COUNT), ("host", "", None),
    ]:
        await set_filter(browser, name, value)
        await footer(browser, f"{count:,} of 10,000 activit" if count is not None else "10,000 activities")


async def obeys_keys(browser, app):
    await browser.run("document.getElementById('scroller').focus()")
    await browser.key("Home")
    await browser.until("document.querySelector('.row.selected')?.innerText.includes('/items/0')")
    for _ in range(3):
        await browser.key("ArrowDown")
    await browser.until("document.querySelector('.row.selected')?.innerText.includes('/items/3')")
    await browser.key("Enter")
    await browser.until("!document.getElementById('detail').hidden")
    await browser.key("Escape")
    await browser.until("document.getElementById('detail').hidden")
    await browser.key("End")
    await browser.until("document.querySelector('.row.selected')?.innerText.includes('/items/9999')")
    check(await browser.run("document.activeElement.id") == "scroller", "the focus is lost")
    await browser.key(" ")
    await app.command("send 4 1000")
    await browser.until("document.getElementById('footer').textContent.includes('paused, 4 changed')")
    await browser.key(" ")
    await browser.until("!document.getElementById('footer').textContent.includes('paused')")


async def changes_requests(browser, app):
    check(await app.command("get items/4") == ["200 29"], "the tools are on")
    await browser.run("""document.getElementById('tools-button').click();
        document.getElementById('tool-failures').value = 1; document.getElementById('tools').requestSubmit()""")
    await browser.until("document.body.classList.contains('tools-on')")
    await picture(browser, "tools")
    check(await app.command("get items/4") == ["connectionLost"], "the request didn't fail")
    await browser.until("!document.body.classList.contains('tools-on')")
    await browser.run("""document.getElementById('rule-pattern').value = 'items/*4'; document.getElementById('rule-status').value = 218;
        document.getElementById('rule-body').value = 'stubbed';
        [...document.querySelectorAll('#tools button')].find(b => b.textContent === 'Add rule').click()""")
    await browser.until("document.getElementById('rules').children.length === 1")
    check(await app.command("get items/4") == ["218 7"], "the rule doesn't respond")
    check(await app.command("get items/5") == ["201 30"], "the rule responds to another URL")
    await browser.run("[...document.querySelectorAll('#tools button')].find(b => b.textContent === 'Turn all off').click()")
    await browser.until("!document.body.classList.contains('tools-on')")
    check(await app.command("get items/4") == ["200 29"], "the rule is still on")
    await browser.run("document.getElementById('tools-button').click()")


async def looks_right(browser):
    """No element reaches beyond the window, and every text stands out."""
    measure = """(() => {
        const luminance = color => {
            const [r, g, b] = color.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const rgba = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
        const back = node => {
            for (let at = node; at; at = at.parentElement) {
                const color = rgba(getComputedStyle(at).backgroundColor);
                if (color[3] > 250) return color.slice(0, 3);
            }
            return rgba(matchMedia("(prefers-color-scheme: dark)").matches ? "black" : "white").slice(0, 3);
        };
        let worst = [99, ""];
        for (const node of document.querySelectorAll("header *, #list *, #detail *, #tools *")) {
            const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
            const style = getComputedStyle(node);
            const box = node.getBoundingClientRect();
            if (!own || node.tagName === "OPTION" || style.visibility === "hidden" || !box.width || node.classList.contains("toggle")) continue;
            const [a, b] = [luminance(rgba(style.color).slice(0, 3)), luminance(back(node))].sort((x, y) => y - x);
            const contrast = (a + 0.05) / (b + 0.05);
            if (contrast < worst[0]) worst = [contrast, node.className + ": " + node.textContent.slice(0, 40)];
        }
        return [document.documentElement.scrollWidth - innerWidth, worst];
    })()"""
    for width in [1360, 820, 390]:
        for dark in [False, True]:
            await browser.window(width, 800, dark)
            for opened in [False, True]:
                if opened:
                    await browser.run("document.getElementById('scroller').focus()")
                    await browser.run("[...document.querySelectorAll('.row')].find(r => !r.hidden).click()")
                    await browser.until("!document.getElementById('detail').hidden && document.getElementById('panel')")
                await asyncio.sleep(0.3)
                overflow, (contrast, text) = await browser.run(measure)
                where = f"at {width}, {'dark' if dark else 'light'}, {'opened' if opened else 'closed'}"
                await picture(browser, where.replace(", ", "-").replace(" ", "-"))
                check(overflow <= 0, f"the page is {overflow} wider than its window {where}")
                check(contrast >= 4.5, f"a contrast of {contrast:.2f} {where}: {text}")
            await browser.run("document.querySelector('.close').click()")
    await browser.window(1360, 800)


async def main():
    app = Program()
    try:
        async with Browser() as browser:
            await browser.window(1360, 800)
            await browser.call("Page.navigate", url=app.address)
            await opens(browser)
            await shows_transfers(browser, app)
            await shows_the_shop(browser, app)
            await speaks(browser, app)
            await shows_hostile_text(browser, app)
            await looks_right(browser)
            await survives_many(browser, app)
            await obeys_keys(browser, app)
            await changes_requests(browser, app)
            origin = app.address.split("?")[0].rstrip("/")
            elsewhere = [url for url in browser.requests if not url.startswith((origin, f"blob:{origin}", "data:"))]
            check(not elsewhere, f"the page asked {elsewhere}")
            check(not browser.faults, f"the browser complains: {browser.faults}")
            # A page of another origin with the user's cookie gets nothing.
            await browser.call("Page.navigate", url=origin.replace("127.0.0.1", "localhost") + "/nothing")
            await asyncio.sleep(0.3)
            stolen = await browser.run(f"fetch('{origin}/archive', {{ credentials: 'include' }}).then(r => r.text(), e => 'refused')")
            check(stolen == "refused", "another origin reads the archive")
            # The page comes back after its program has ended, and says so.
            await browser.call("Page.navigate", url=origin)
            await browser.until("document.getElementById('connection')?.textContent === 'live'")
            app.end()
            await browser.until("document.getElementById('connection').textContent === 'disconnected'")
    finally:
        app.process.kill()
    print("inspector: the page shows, filters, exports and masks, and asks no one else")


asyncio.run(main())
