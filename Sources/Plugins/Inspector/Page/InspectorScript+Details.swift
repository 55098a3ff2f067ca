extension InspectorScript {
    static let details = #"""
        const detail = byId("detail");
        let shownDetail = null;
        let detailTab = "overview";
        let detailCall = 0;

        const openDetail = async (id, isQuiet) => {
          const call = detailCall += 1;
          let data = null;
          try {
            const response = await fetch("/activity?id=" + encodeURIComponent(id));
            if (response.ok) data = await response.json();
          } catch { /* Shown below: the program has ended, or dropped the activity. */ }
          if (call !== detailCall) return;
          if (id !== model.selected && isQuiet) return;
          const opens = detail.hidden;
          shownDetail = data;
          detail.hidden = false;
          document.body.classList.add("split");
          drawDetail(data, id);
          if (opens && !isQuiet) detail.focus({ preventScroll: true });
          redraw(false);
        };

        const closeDetail = () => {
          detailCall += 1;
          detail.hidden = true;
          document.body.classList.remove("split");
          shownDetail = null;
          scroller.focus({ preventScroll: true });
          redraw(false);
        };

        const copyText = async (text, button) => {
          const old = button.textContent;
          try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch {
            // Without permission, the text is shown to be copied by hand.
            button.parentElement.after(element("pre", { class: "copy", tabindex: "0" }, text));
            button.textContent = "Copy the text below";
          }
          setTimeout(() => { button.textContent = old; }, 1500);
        };

        const copyButton = (name, text) => {
          const button = element("button", { type: "button" }, name);
          button.addEventListener("click", async () => copyText(await text(), button));
          return button;
        };

        const archiveOf = async id => {
          const response = await fetch("/archive?id=" + encodeURIComponent(id));
          return response.ok ? response.text() : "";
        };

        const actions = data => {
          const last = data.exchanges[data.exchanges.length - 1];
          return element("div", { class: "copies" },
            last && copyButton("Copy as curl", async () => last.curl),
            last && copyButton("Copy as HAR", () => archiveOf(data.id)),
            data.test && copyButton("Copy as test", async () => data.test));
        };

        const tabs = data => {
          const list = [["overview", "Overview"]];
          if (data.exchanges.length || data.other) list.push(["headers", "Headers"], ["bodies", "Bodies"]);
          if (data.messages || data.messageList.length) list.push(["messages", "Messages"]);
          if (data.noteList.length) list.push(["notes", "Notes " + data.noteList.length]);
          if (data.explanation) list.push(["explanation", "Pipeline"]);
          return list;
        };

        const panels = {};

        // What a panel shows. While it doesn't change, the panel stays, with its open branches, selection and focus.
        const partsShown = {
          headers: data => [data.other && data.other.headers, data.exchanges.map(x => [x.url, x.requestHeaders, x.response && x.response.headers])],
          bodies: data => [data.other && data.other.body, data.exchanges.map(x => [x.url, x.requestBody, x.response && x.response.body, x.wireReceived])],
          notes: data => data.noteList, messages: data => data.messageList, explanation: data => data.explanation,
        };
        let shownPart = "";

        const drawDetail = (data, id) => {
          const focused = detail.contains(document.activeElement) ? document.activeElement : null;
          fillDetail(data, id);
          if (!focused || document.activeElement === focused) return;
          const same = detail.contains(focused) ? focused : focused.id ? byId(focused.id)
            : [...detail.querySelectorAll(focused.tagName)].find(node => node.textContent === focused.textContent && node.className === focused.className);
          (same || detail).focus({ preventScroll: true });
        };

        const fillDetail = (data, id) => {
          const scrolls = detail.querySelector(".panel");
          const top = scrolls ? scrolls.scrollTop : 0;
          const sameActivity = detail.dataset.id === String(id);
          detail.dataset.id = id;
          const close = element("button", { type: "button", class: "close", "aria-label": "Close details", on: { click: closeDetail } }, "×");
          if (!data) {
            detail.replaceChildren(element("div", { class: "detail-head" },
              element("h2", {}, "Activity #" + id), close), element("p", { class: "gone" }, "This activity was dropped, or its program has ended."));
            return;
          }
          const list = tabs(data);
          if (!list.some(([name]) => name === detailTab)) detailTab = "overview";
          const bar = element("div", { class: "tabs", role: "tablist" }, list.map(([name, title]) =>
            element("button", {
              type: "button", role: "tab", id: "tab-" + name, "aria-selected": String(name === detailTab), "aria-controls": "panel",
              tabindex: name === detailTab ? "0" : "-1",
              on: { click: () => { detailTab = name; drawDetail(data, id); byId("tab-" + name).focus(); } },
            }, title)));
          bar.addEventListener("keydown", event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const at = list.findIndex(([name]) => name === detailTab);
            detailTab = list[(at + step + list.length) % list.length][0];
            drawDetail(data, id);
            byId("tab-" + detailTab).focus();
          });
          const part = partsShown[detailTab] ? detailTab + JSON.stringify(partsShown[detailTab](data)) : "";
          const stays = sameActivity && scrolls && part && part === shownPart;
          shownPart = part;
          const panel = stays ? scrolls : element("div",
            { class: "panel", id: "panel", role: "tabpanel", tabindex: "0", "aria-labelledby": "tab-" + detailTab }, panels[detailTab](data));
          const title = data.method ? data.method + " " + parts(data.url).path : data.label || data.kind;
          detail.replaceChildren(
            element("div", { class: "detail-head" }, element("h2", {}, title), close), actions(data), bar, panel);
          if (sameActivity) panel.scrollTop = top;
        };

        const facts = pairs => element("dl", { class: "facts" }, pairs
          .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
          .map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));

        const heading = text => element("h3", {}, text);

        const outcome = data => {
          if (data.state === "running") return "running";
          if (data.state === "success") return data.status ? String(data.status) : "success";
          return (data.state === "failure" ? "failed: " : "") + data.error;
        };

        const timeline = data => {
          const soFar = data.duration === undefined ? currentTime() - data.start : data.duration;
          const total = Math.max(0.001, soFar, ...data.exchanges.map(x => x.offset + (x.duration || 0)));
          const saved = scale;
          scale = { start: 0, length: total };
          const rows = data.exchanges.map(exchange => {
            const track = element("div", { class: "track" });
            let at = exchange.offset;
            if (data.state === "running" && exchange.duration === undefined) {
              const bar = element("i");
              place(bar, "wait open", at, Math.max(0, total - at));
              track.append(bar);
            }
            exchange.phases.forEach((length, index) => {
              if (!length) return;
              const bar = element("i");
              place(bar, phaseNames[index], at, length);
              track.append(bar);
              at += length;
            });
            const line = ["attempt " + exchange.attempt, exchange.hop > 1 && "hop " + exchange.hop,
              exchange.response ? exchange.response.status : "no response", duration(exchange.duration)].filter(Boolean).join(" · ");
            const phases = exchange.phases.map((length, index) => length
              ? element("li", {}, element("i", { class: phaseNames[index] }), phaseTitles[index] + " " + duration(length)) : null);
            return element("div", { class: "hop" },
              element("div", { class: "hop-name" }, element("b", {}, exchange.method), " ", exchange.url),
              element("div", { class: "hop-facts" }, line),
              exchange.response && exchange.response.location && element("div", { class: "hop-facts" }, "→ " + exchange.response.location),
              track, element("ul", { class: "legend" }, phases));
          });
          scale = saved;
          return rows;
        };

        panels.overview = data => {
          const last = data.exchanges[data.exchanges.length - 1] || {};
          const children = model.children.get(data.id) || [];
          return [
            data.failure && element("div", { class: "failure" }, element("b", {}, data.failure.name),
              element("p", {}, data.failure.description), data.failure.sentence && element("p", { class: "soft" }, data.failure.sentence)),
            transferView(model.rows.get(data.id) || data),
            facts([
              ["URL", data.url], ["Outcome", outcome(data)], ["Source", data.source || (data.exchanges.length ? "network" : "")],
              ["Time", data.duration === undefined ? "running" : duration(data.duration)],
              ["Started", new Date(data.date).toISOString().replace("T", " ").replace("Z", " UTC")],
              ["Size", sizes(data, last)], ["Type", data.type],
              ["Protocol", last.version && "HTTP/" + last.version], ["Address", last.address],
              ["Connection", last.reused === undefined ? "" : last.reused ? "reused" : "new"],
              ["Stream", data.stream], ["Agent", data.agent], ["Label", data.label], ["Activity", "#" + data.id + ", " + data.kind],
            ]),
            data.parent !== undefined && model.rows.has(data.parent) && links("Part of", [data.parent]),
            children.length ? links("Parts", children.slice(0, 100)) : null,
            data.exchanges.length ? heading("Requests on the wire") : null,
            data.droppedHops ? element("p", { class: "soft" }, data.droppedHops + " were dropped.") : null,
            timeline(data),
          ];
        };

        const transferLine = (verb, row, moved, total) => {
          const texts = [verb + " " + bytes(moved) + (total ? " of " + bytes(total) : "")];
          const rate = row.state === "running" && row.sample ? row.sample.rate : 0;
          if (total) texts.push(Math.min(100, Math.floor(moved / total * 100)) + "%");
          if (rate > 0) texts.push(bytes(Math.round(rate)) + "/s");
          if (rate > 0 && total > moved) texts.push(duration((total - moved) / rate * 1000) + " left");
          return element("div", { class: "transfer" }, element("span", {}, texts.join(" · ")),
            total ? element("progress", { max: total, value: Math.min(moved, total), "aria-label": verb + " bytes" }) : null);
        };

        // How far a transfer is, or was when it ended without success.
        const transferView = row => {
          if (row.state === "success") return null;
          const isOpen = (moved, total) => row.state === "running" || total > moved;
          return [
            (row.sent || row.totalToSend) && isOpen(row.sent || 0, row.totalToSend) ? transferLine("Sent", row, row.sent || 0, row.totalToSend) : null,
            (row.received || row.totalToReceive) && isOpen(row.received || 0, row.totalToReceive) ? transferLine("Received", row, row.received || 0, row.totalToReceive) : null,
          ];
        };

        const sizes = (data, last) => {
          const body = last.response && last.response.body.length;
          const wire = last.wireReceived;
          const texts = [];
          if (data.size !== undefined) texts.push(bytes(data.size) + " received");
          if (wire !== undefined && body && wire !== body) texts.push(bytes(wire) + " on the wire");
          if (data.sent) texts.push(bytes(data.sent) + " sent");
          return texts.join(", ");
        };

        const links = (title, ids) => [heading(title), element("ul", { class: "links" }, ids.map(id => {
          const row = model.rows.get(id);
          if (!row) return null;
          const button = element("button", { type: "button", class: "link", on: { click: () => { select(id); openDetail(id); } } },
            (row.method || row.kind) + " " + titleOf(row));
          return element("li", {}, button, " ", statusText(row));
        }))];

        const headerTable = (title, list) => [heading(title), list.length
          ? element("table", { class: "headers" }, element("tbody", {}, list.map(([name, value]) =>
            element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))))
          : element("p", { class: "soft" }, "No fields.")];

        const hopTitle = (data, exchange) => data.exchanges.length > 1
          ? element("h3", { class: "hop-title" }, "Attempt " + exchange.attempt + ", hop " + exchange.hop + ": " + exchange.method + " " + exchange.url) : null;

        panels.headers = data => [
          data.other && headerTable("Response from " + (data.source || "a filter"), data.other.headers),
          data.exchanges.map(exchange => [
            hopTitle(data, exchange),
            exchange.response && headerTable("Response " + exchange.response.status, exchange.response.headers),
            headerTable("Request", exchange.requestHeaders)]),
        ];

        panels.notes = data => [
          data.droppedNotes ? element("p", { class: "soft" }, data.droppedNotes + " earlier notes were dropped.") : null,
          element("ol", { class: "notes" }, data.noteList.map(note => element("li", {},
            element("span", { class: "soft" }, "+" + duration(note.at)), element("b", {}, note.name), element("span", {}, note.text)))),
        ];

        panels.explanation = data => element("pre", {}, data.explanation);

        panels.messages = data => [
          data.droppedMessages ? element("p", { class: "soft" }, data.droppedMessages + " earlier messages were dropped.") : null,
          element("ol", { class: "messages" }, data.messageList.map(message => element("li", { class: message.sent ? "sent" : "received" },
            element("span", { class: "soft" }, (message.sent ? "↑ " : "↓ ") + new Date(message.date).toISOString().slice(11, 23) + " · " + bytes(message.length)),
            message.omission ? element("p", { class: "soft" }, message.omission)
              : message.text !== undefined ? element("pre", {}, message.text.slice(0, 20000))
              : message.base64 ? hexView(message.base64) : null))),
        ];
        """#
}
