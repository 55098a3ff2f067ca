#!/usr/bin/env python3
"""Draws the path of a request as docs/images/pipeline.svg: stages, events and threads.

    docs/images/pipeline.py          writes the drawing
    docs/images/pipeline.py --check  fails if the file is another one

The colours follow the reader's scheme, light or dark.
"""
import pathlib
import sys
from xml.sax.saxutils import escape

STEPS = [  # title, what it does, the event that accessories receive, the thread
    ("send, start", "the activity begins", "will start", "caller"),
    ("build", "the request becomes URL, headers, body", "built", "task"),
    ("call filters", "once: URL filters, retry, sign-in, timed cache", "note", "task"),
    ("redirects", "one hop for each", "", "task"),
    ("hop filters", "each hop: cookies, HTTP cache, sharing", "", "task"),
    ("wire filters", "each request sent: host limit, breaker", "", "task"),
    ("transport", "libcurl, URLSession, a stub", "sending, progress, received", "transport"),
    ("judge", "status, content type, checks", "", "task"),
    ("decode", "the body becomes the output", "", "task"),
    ("accept", "what was staged is stored; the file is moved", "", "task"),
    ("end", "success, failure or cancelled, once", "will stop", "task"),
    ("callbacks", "delegate, completion", "", "main"),
    ("return", "the caller has the response", "did stop", "caller"),
]
THREADS = {
    "caller": "the caller's",
    "task": "the activity's task, off every actor",
    "transport": "the transport's",
    "main": "the main actor, or a queue",
}
WIDTH, TOP, ROW, BOX = 830, 44, 46, 34
STYLE = """
svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #8c959f; --caller: #ddf4ff; --task: #f6f8fa; --transport: #fff1e5;
  --main: #dafbe1; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #656c76; --caller: #0c2d6b; --task: #21262d; --transport: #5a1e02;
    --main: #04260f; }
}
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.paper { fill: var(--paper); }
.soft { fill: var(--soft); font-size: 12px; }
.title { font-weight: 600; }
.line { stroke: var(--line); fill: none; stroke-width: 1.5; }
""" + "\n".join(f".{name} {{ fill: var(--{name}); stroke: var(--line); }}" for name in THREADS)


def text(x, y, words, style=""):
    return f'<text x="{x}" y="{y}"' + (f' class="{style}"' if style else "") + f">{escape(words)}</text>"


def drawing():
    bottom = TOP + ROW * len(STEPS)
    parts = [f'<rect width="{WIDTH}" height="{bottom}" rx="8" class="paper"/>', text(16, 24, "step", "soft"), text(464, 24, "accessories receive", "soft"), text(690, 24, "thread", "soft")]
    for number, (title, what, event, thread) in enumerate(STEPS):
        y = TOP + number * ROW
        parts.append(f'<rect x="16" y="{y}" width="428" height="{BOX}" rx="6" class="{thread}"/>')
        parts.append(text(28, y + 22, title, "title") + text(128, y + 22, what))
        if event:
            parts.append(f'<path class="line" d="M444 {y + 17} h14" marker-end="url(#tip)"/>')
            parts.append(text(464, y + 22, event))
        parts.append(f'<rect x="690" y="{y + 9}" width="16" height="16" rx="3" class="{thread}"/>')
        if number + 1 < len(STEPS):
            parts.append(f'<path class="line" d="M230 {y + BOX} v{ROW - BOX - 1}" marker-end="url(#tip)"/>')
    # The response goes back through the filters; a retry sends it out again.
    first, last = (TOP + ROW * n + BOX // 2 for n in (2, 6))
    parts.append(f'<path class="line" stroke-dasharray="4 3" d="M444 {last + 10} h224 V{first + 10} h-216" marker-end="url(#tip)"/>')
    parts.append(text(530, (first + last) // 2 - 4, "the response passes", "soft"))
    parts.append(text(530, (first + last) // 2 + 12, "them in reverse", "soft"))
    seen = []
    for number, step in enumerate(STEPS):
        if step[3] not in seen:
            seen.append(step[3])
            parts.append(text(714, TOP + number * ROW + 22, THREADS[step[3]].split(",")[0], "soft"))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" role="img" aria-labelledby="t">
<title id="t">The path of a request: its steps, the events that accessories receive, and the threads</title>
<style>{STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
<path d="M0 0 L8 4 L0 8 z" style="fill: var(--line)"/></marker></defs>
""" + "\n".join(parts) + "\n</svg>\n"


def main():
    file = pathlib.Path(__file__).with_name("pipeline.svg")
    if sys.argv[1:] == ["--check"]:
        if file.read_text() != drawing():
            sys.exit("docs/images/pipeline.svg is not what docs/images/pipeline.py draws")
    else:
        file.write_text(drawing())


main()
