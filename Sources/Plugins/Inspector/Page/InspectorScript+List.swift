extension InspectorScript {
    /// The script of the list. Only visible rows have elements, and the elements are reused.
    static let list = #"""
        const scroller = byId("scroller");
        const rowsBox = byId("rows");
        const rowHeight = 30;
        const pool = [];
        let needsDraw = false;
        let needsSelect = false;
        let scale = { start: 0, length: 1000 };

        const redraw = select => {
          needsSelect = needsSelect || select !== false;
          if (needsDraw) return;
          needsDraw = true;
          requestAnimationFrame(draw);
        };

        const makeRow = () => {
          const parts = {
            row: element("div", { class: "row", role: "row" }),
            name: element("span", { class: "c-name", role: "gridcell" }),
            toggle: element("button", { class: "toggle", type: "button", tabindex: "-1" }),
            method: element("b", { class: "method" }),
            title: element("span", { class: "title" }),
            host: element("span", { class: "host" }),
            marks: element("span", { class: "marks" }),
            status: element("span", { class: "c-status", role: "gridcell" }),
            size: element("span", { class: "c-size", role: "gridcell" }),
            time: element("span", { class: "c-time", role: "gridcell" }),
            wire: element("span", { class: "c-wire", role: "gridcell" }),
            track: element("span", { class: "c-waterfall", role: "gridcell", "aria-hidden": "true" }),
            progress: element("i", { class: "progress", "aria-hidden": "true" }),
            bars: [],
          };
          parts.name.append(parts.toggle, parts.method, parts.title, parts.host, parts.marks);
          parts.row.append(parts.name, parts.status, parts.size, parts.time, parts.wire, parts.track, parts.progress);
          parts.row.addEventListener("click", () => { select(parts.id); openDetail(parts.id); });
          parts.toggle.addEventListener("click", event => { event.stopPropagation(); toggle(parts.id); });
          rowsBox.append(parts.row);
          return parts;
        };

        const statusText = row => {
          if (row.status) return String(row.status);
          if (row.state === "running") return "…";
          if (row.state === "success") return "ok";
          return row.state === "cancelled" ? "cancelled" : "failed";
        };

        const statusClass = row => {
          if (row.state === "running") return "running";
          if (row.state === "cancelled") return "cancelled";
          if (row.state === "failure" || row.status >= 400) return "bad";
          return row.status >= 300 ? "moved" : "good";
        };

        const marksText = row => {
          const marks = [];
          if (isPartial(row)) marks.push(row.percent + "%");
          if (row.attempts > 1) marks.push("attempt " + row.attempts);
          if (row.hops > (row.attempts || 1)) marks.push(row.hops + " hops");
          // At its end, an event stream knows the number of its events.
          const events = row.stream && /^[0-9]+ events/.test(row.stream);
          if (row.messages && !events) marks.push(number(row.messages) + (row.messages === 1 ? " message" : " messages"));
          if (row.stream && (events || !row.messages)) marks.push(row.stream);
          if (row.state === "failure") marks.push(row.error);
          if (row.agent) marks.push("@" + row.agent);
          return marks.join(" · ");
        };

        const progressText = row => {
          if (row.state !== "running") return bytes(row.size);
          return row.size ? bytes(row.size) : row.sent ? "↑" + bytes(row.sent) : "";
        };

        // Whether a transfer is under way, or ended before it was complete.
        const isPartial = row => row.percent !== undefined && row.state !== "success" && (row.state === "running" || row.percent < 100);

        const rowLabel = row => [row.method || row.kind, titleOf(row), statusText(row), progressText(row),
          row.duration !== undefined ? duration(row.duration) : "", row.source || "", marksText(row)].filter(Boolean).join(", ");

        const titleOf = row => {
          if (row.url) return row.path;
          return row.label || row.kind;
        };

        const place = (bar, name, start, length) => {
          if (bar.className !== name) bar.className = name;
          const left = Math.max(0, Math.min(99.6, (start - scale.start) / scale.length * 100));
          const width = Math.max(0.4, Math.min(100 - left, length / scale.length * 100));
          bar.style.left = left.toFixed(2) + "%";
          bar.style.width = width.toFixed(2) + "%";
        };

        const drawBars = (parts, row) => {
          const end = row.duration !== undefined ? row.start + row.duration : currentTime();
          const wanted = [["whole " + statusClass(row), row.start, Math.max(0, end - row.start)]];
          for (const bar of row.bars || []) {
            let at = bar[0];
            if (bar.length === 1) wanted.push(["wait open", at, Math.max(0, end - at)]);
            for (let index = 1; index < bar.length; index += 1) {
              if (bar[index]) wanted.push([phaseNames[index - 1], at, bar[index]]);
              at += bar[index] || 0;
            }
            if (wanted.length > 40) break;
          }
          while (parts.bars.length < wanted.length) {
            const bar = element("i");
            parts.bars.push(bar);
            parts.track.append(bar);
          }
          parts.bars.forEach((bar, index) => {
            bar.hidden = index >= wanted.length;
            if (!bar.hidden) place(bar, ...wanted[index]);
          });
        };

        const fillRow = (parts, row, index) => {
          parts.id = row.id;
          const kind = statusClass(row);
          const name = "row " + kind + (row.id === model.selected ? " selected" : "") + (index % 2 ? " odd" : "");
          if (parts.row.className !== name) parts.row.className = name;
          parts.row.style.transform = "translateY(" + index * rowHeight + "px)";
          parts.row.id = "row-" + row.id;
          parts.row.setAttribute("aria-rowindex", index + 1);
          parts.row.setAttribute("aria-level", row.depth + 1);
          parts.row.setAttribute("aria-selected", row.id === model.selected);
          parts.name.style.paddingLeft = 6 + row.depth * 14 + "px";
          const open = !model.collapsed.has(row.id);
          if (row.hasChildren) parts.row.setAttribute("aria-expanded", open); else parts.row.removeAttribute("aria-expanded");
          parts.toggle.className = "toggle" + (row.hasChildren ? "" : " leaf");
          setText(parts.toggle, row.hasChildren ? (open ? "▾" : "▸") : "");
          parts.toggle.setAttribute("aria-label", open ? "Collapse" : "Expand");
          setText(parts.method, row.method ? visible(row.method) : visible(row.kind));
          parts.method.className = "method" + (row.method ? "" : " kind");
          setText(parts.title, visible(titleOf(row)));
          setText(parts.host, visible(row.host || ""));
          setText(parts.marks, visible(marksText(row)));
          setText(parts.status, statusText(row));
          setText(parts.size, progressText(row));
          setText(parts.time, row.duration !== undefined ? duration(row.duration) : duration(Math.max(0, currentTime() - row.start)));
          setText(parts.wire, visible(row.source ? row.source.split(/[ ,(:]/)[0] : row.hops ? "wire" : ""));
          parts.wire.className = "c-wire" + (row.source ? " stored" : "");
          parts.progress.hidden = !isPartial(row);
          if (!parts.progress.hidden) parts.progress.style.width = row.percent + "%";
          const label = visible(rowLabel(row));
          if (parts.row.getAttribute("aria-label") !== label) parts.row.setAttribute("aria-label", label);
          drawBars(parts, row);
        };

        // The waterfall covers the rows in sight, so it is readable after days too.
        const fitScale = visibleRows => {
          let start = Infinity, end = 0;
          for (const row of visibleRows) {
            start = Math.min(start, row.start);
            end = Math.max(end, row.duration !== undefined ? row.start + row.duration : currentTime());
          }
          if (start === Infinity) return;
          scale = { start, length: Math.max(1, end - start) };
          setText(byId("scale"), duration(scale.length));
        };

        const draw = () => {
          needsDraw = false;
          const atEnd = scroller.scrollTop + scroller.clientHeight >= rowsBox.offsetHeight - 4;
          if (needsSelect) { selectRows(); needsSelect = false; drawOptions(); }
          const height = model.shown.length * rowHeight;
          if (rowsBox.offsetHeight !== height) rowsBox.style.height = height + "px";
          if (atEnd && follows) scroller.scrollTop = scroller.scrollHeight;
          const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - 4);
          const count = Math.ceil(scroller.clientHeight / rowHeight) + 8;
          const inSight = model.shown.slice(first, first + count);
          fitScale(inSight);
          while (pool.length < inSight.length) pool.push(makeRow());
          pool.forEach((parts, index) => {
            parts.row.hidden = index >= inSight.length;
            if (!parts.row.hidden) fillRow(parts, inSight[index], first + index);
          });
          scroller.setAttribute("aria-rowcount", model.shown.length);
          if (inSight.some(row => row.id === model.selected)) scroller.setAttribute("aria-activedescendant", "row-" + model.selected);
          else scroller.removeAttribute("aria-activedescendant");
          byId("empty").hidden = model.shown.length > 0;
          setText(byId("empty"), model.rows.size ? "No activity passes the filters." : "Waiting for requests. Send one, and it appears here.");
          drawFooter();
        };

        let follows = true;

        const drawFooter = () => {
          const texts = [number(model.shown.length) + (isFiltered() ? " of " + number(model.rows.size) : "") +
            (model.shown.length === 1 ? " activity" : " activities")];
          if (model.paused) texts.push("paused, " + number(model.held.size) + " changed meanwhile");
          const lost = model.dropped + model.local;
          if (lost) texts.push(number(lost) + " older ones were dropped");
          if (model.missed) texts.push(number(model.missed) + " rows were dropped before this page read them");
          setText(byId("footer"), texts.join(" · "));
        };

        // The hosts and kinds of the rows, as options of the filters.
        let optionsWait = false;
        const drawOptions = () => {
          if (optionsWait) return;
          optionsWait = true;
          setTimeout(() => { optionsWait = false; fillAllOptions(); }, 300);
        };
        const fillAllOptions = () => {
          const hosts = new Set(), kinds = new Set();
          for (const row of model.rows.values()) {
            if (row.host && hosts.size < 200) hosts.add(row.host);
            if (kinds.size < 50) kinds.add(row.kind);
          }
          fillOptions(byId("host"), hosts);
          fillOptions(byId("kind"), kinds);
        };
        const fillOptions = (box, values) => {
          const known = new Set([...box.options].map(option => option.value));
          for (const value of [...values].sort()) {
            if (!known.has(value)) box.append(element("option", { value }, visible(value)));
          }
        };

        const select = id => { model.selected = id; redraw(false); };

        const toggle = id => {
          if (model.collapsed.has(id)) model.collapsed.delete(id); else model.collapsed.add(id);
          redraw();
        };

        const move = step => {
          if (!model.shown.length) return;
          const at = model.shown.findIndex(row => row.id === model.selected);
          const next = at < 0 ? (step > 0 ? 0 : model.shown.length - 1)
            : Math.max(0, Math.min(model.shown.length - 1, at + step));
          select(model.shown[next].id);
          const top = next * rowHeight;
          if (top < scroller.scrollTop) scroller.scrollTop = top;
          if (top + rowHeight > scroller.scrollTop + scroller.clientHeight) {
            scroller.scrollTop = top + rowHeight - scroller.clientHeight;
          }
          follows = next === model.shown.length - 1;
          if (!byId("detail").hidden) openDetail(model.selected, true);
        };

        scroller.addEventListener("scroll", () => {
          follows = scroller.scrollTop + scroller.clientHeight >= rowsBox.offsetHeight - 4;
          redraw(false);
        });
        scroller.addEventListener("keydown", event => {
          const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 1);
          const row = model.rows.get(model.selected);
          const moves = {
            ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, End: Infinity, Home: -Infinity, j: 1, k: -1,
          };
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (event.key in moves) move(moves[event.key]);
          else if (event.key === "Enter" && row) openDetail(row.id);
          else if (event.key === "ArrowLeft" && row && row.hasChildren && !model.collapsed.has(row.id)) toggle(row.id);
          else if (event.key === "ArrowRight" && row && model.collapsed.has(row.id)) toggle(row.id);
          else return;
          event.preventDefault();
        });
        new ResizeObserver(() => redraw(false)).observe(scroller);
        """#
}
