extension InspectorScript {
    static let tools = #"""
        const toolsForm = byId("tools");
        const toolsButton = byId("tools-button");

        const isOn = tools => Boolean(tools && (tools.delay || tools.bandwidth || tools.failures || tools.rules.length));

        const sendTools = async tools => {
          const response = await fetch("/tools", {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(tools),
          });
          if (!response.ok) setText(byId("tools-state"), "The program refused these settings.");
        };

        const field = (id, title, value, attributes) => element("label", { class: "field", for: id }, title,
          element("input", { id, value, ...attributes }));

        const whole = id => Math.max(0, Math.floor(Number(byId(id).value) || 0));

        const readTools = () => ({
          delay: whole("tool-delay"), bandwidth: whole("tool-bandwidth") * 1000, failures: whole("tool-failures"),
          failureStatus: Number(byId("tool-failure-status").value), rules: model.tools ? model.tools.rules : [],
        });

        const drawTools = () => {
          const tools = model.tools || { delay: 0, bandwidth: 0, failures: 0, failureStatus: 0, rules: [] };
          const on = isOn(tools);
          document.body.classList.toggle("tools-on", on);
          setText(toolsButton, on ? "Tools are on" : "Tools");
          if (toolsForm.contains(document.activeElement) && toolsForm.childElementCount) {
            setText(byId("tools-state"), on ? "On: requests are changed." : "Off.");
            const left = byId("tool-failures");
            if (left && document.activeElement !== left) left.value = tools.failures;
            drawRules(tools);
            return;
          }
          const statuses = [[0, "a lost connection"], [500, "status 500"], [503, "status 503"], [429, "status 429"], [401, "status 401"], [404, "status 404"]];
          toolsForm.replaceChildren(
            element("fieldset", {}, element("legend", {}, "Slow network"),
              field("tool-delay", "Delay in ms", tools.delay, { type: "number", min: 0, max: 60000 }),
              field("tool-bandwidth", "Limit in kB/s, 0 is off", Math.round(tools.bandwidth / 1000), { type: "number", min: 0 })),
            element("fieldset", {}, element("legend", {}, "Fail the next requests"),
              field("tool-failures", "How many", tools.failures, { type: "number", min: 0 }),
              element("label", { class: "field", for: "tool-failure-status" }, "With",
                element("select", { id: "tool-failure-status" }, statuses.map(([value, title]) =>
                  element("option", { value, selected: value === tools.failureStatus }, title))))),
            element("fieldset", { class: "wide" }, element("legend", {}, "Respond without the server"),
              field("rule-pattern", "URL contains, * matches anything", "", { type: "text" }),
              field("rule-status", "Status", 200, { type: "number", min: 200, max: 599 }),
              field("rule-latency", "Latency in ms", 0, { type: "number", min: 0, max: 60000 }),
              field("rule-type", "Content type", "application/json", { type: "text" }),
              element("label", { class: "field wide", for: "rule-body" }, "Body", element("textarea", { id: "rule-body", rows: 2 })),
              element("button", { type: "button", on: { click: addRule } }, "Add rule"),
              element("ul", { id: "rules" })),
            element("div", { class: "tool-actions" },
              element("button", { type: "submit" }, "Apply"),
              element("button", { type: "button", on: { click: turnOff } }, "Turn all off"),
              element("span", { id: "tools-state", role: "status" }, on ? "On: requests are changed." : "Off. They act on agents with inspector.filters.")));
          drawRules(tools);
        };

        const drawRules = tools => {
          byId("rules").replaceChildren(...tools.rules.map((rule, index) => element("li", {},
            element("code", {}, rule.pattern), " → " + rule.status + (rule.latency ? " after " + rule.latency + " ms" : ""), " ",
            element("button", { type: "button", class: "link", on: { click: () => {
              sendTools({ ...readTools(), rules: tools.rules.filter((_, at) => at !== index) });
            } } }, "Remove"))));
        };

        const addRule = () => {
          const pattern = byId("rule-pattern").value.trim();
          if (!pattern) { byId("rule-pattern").focus(); return; }
          const rule = { pattern, status: whole("rule-status") || 200, type: byId("rule-type").value, body: byId("rule-body").value, latency: whole("rule-latency") };
          const tools = readTools();
          sendTools({ ...tools, rules: [...tools.rules, rule] });
        };

        const turnOff = () => {
          sendTools({ delay: 0, bandwidth: 0, failures: 0, failureStatus: 0, rules: [] });
          for (const id of ["tool-delay", "tool-bandwidth", "tool-failures"]) byId(id).value = 0;
        };

        toolsForm.addEventListener("submit", event => { event.preventDefault(); sendTools(readTools()); });
        toolsButton.addEventListener("click", () => {
          toolsForm.hidden = !toolsForm.hidden;
          toolsButton.setAttribute("aria-expanded", String(!toolsForm.hidden));
          if (!toolsForm.hidden) drawTools();
          redraw(false);
        });
        """#

    static let start = #"""
        // The token is in the address only for the first visit; the cookie replaces it.
        if (location.search) history.replaceState(null, "", "/");

        const connection = byId("connection");
        const showConnection = (text, kind) => { setText(connection, text); connection.className = "badge " + kind; };

        let source = null;
        let detailWait = null;
        const connect = () => {
          source = new EventSource("/events");
          source.addEventListener("open", () => { model.lostAt = null; showConnection("live", "live"); });
          source.addEventListener("error", () => {
            model.lostAt = model.lostAt ?? performance.now();
            showConnection("disconnected", "lost");
            // A refused stream ends for good; the browser retries others by itself.
            if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
          });
          source.addEventListener("hello", event => {
            const hello = JSON.parse(event.data);
            if (model.start !== null && model.start !== hello.start) { model.rows.clear(); model.held.clear(); model.needsOrder = true; }
            Object.assign(model, { start: hello.start, limit: hello.limit, dropped: hello.dropped });
            setText(byId("program"), visible(hello.program));
            document.title = visible(hello.program) + " – Errand inspector";
            redraw();
          });
          source.addEventListener("rows", event => {
            const batch = JSON.parse(event.data);
            Object.assign(model, { dropped: batch.dropped, missed: batch.missed, now: batch.now, nowAt: performance.now() });
            applyRows(batch.rows);
            if (shownDetail && batch.rows.some(row => row.id === shownDetail.id)) refreshDetail();
            redraw();
          });
          source.addEventListener("clear", () => { forgetRows(); redraw(); });
          source.addEventListener("tools", event => { model.tools = JSON.parse(event.data); drawTools(); });
        };

        // The opened activity changed. Not more often than twice a second.
        const refreshDetail = () => {
          if (detailWait || model.paused) return;
          detailWait = setTimeout(() => {
            detailWait = null;
            if (shownDetail && !detail.hidden) openDetail(shownDetail.id, true);
          }, 500);
        };

        const onFilter = (id, event, read) => byId(id).addEventListener(event, () => {
          filters[id] = read(byId(id));
          redraw();
        });
        onFilter("text", "input", box => box.value.trim().toLowerCase());
        onFilter("host", "change", box => box.value);
        onFilter("status", "change", box => box.value);
        onFilter("kind", "change", box => box.value);
        onFilter("failed", "change", box => box.checked);

        byId("pause").addEventListener("click", () => {
          model.paused = !model.paused;
          byId("pause").setAttribute("aria-pressed", String(model.paused));
          setText(byId("pause"), model.paused ? "Resume" : "Pause");
          if (!model.paused) { const held = [...model.held.values()]; model.held.clear(); applyRows(held); }
          redraw();
        });
        byId("clear").addEventListener("click", async () => {
          await fetch("/clear", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
        });
        byId("archive").addEventListener("click", async () => {
          const response = await fetch("/archive");
          if (!response.ok) return;
          const address = URL.createObjectURL(await response.blob());
          element("a", { href: address, download: "errand.har" }).click();
          setTimeout(() => URL.revokeObjectURL(address), 10000);
        });

        document.addEventListener("keydown", event => {
          const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
          if (event.key === "Escape") {
            if (!detail.hidden) closeDetail(); else scroller.focus();
          } else if (event.key === "/" && !typing) {
            event.preventDefault();
            byId("text").focus();
          } else if (event.key === " " && event.target === scroller) {
            event.preventDefault();
            byId("pause").click();
          }
        });

        // Running activities get longer.
        setInterval(() => { if (!document.hidden && [...model.shown].some(row => row.state === "running")) redraw(false); }, 500);

        connect();
        redraw();
        """#
}
