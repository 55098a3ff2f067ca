/// The parts of the page's script, in order. They share one scope.
enum InspectorScript {
    /// All external text goes through `visible` and `textContent`.
    static let values = #"""
        const byId = id => document.getElementById(id);

        // Control characters act on terminals, and bidirectional formatting changes how text reads: both are shown.
        const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
        const code = c => "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}";
        const visible = (text, lines) =>
          String(text).replace(hidden, code).replace(lines ? /\r/g : /[\t\n]/g, code);

        // Creates an element. Strings become text nodes, which the browser doesn't interpret.
        const element = (name, attributes, ...children) => {
          const made = document.createElement(name);
          for (const [key, value] of Object.entries(attributes || {})) {
            if (value === null || value === undefined || value === false) continue;
            if (key === "on") for (const [event, action] of Object.entries(value)) made.addEventListener(event, action);
            else if (key === "class") made.className = value;
            else made.setAttribute(key, value === true ? "" : value);
          }
          for (const child of children.flat(Infinity)) {
            if (child === null || child === undefined || child === false) continue;
            made.append(child instanceof Node ? child : document.createTextNode(visible(child, true)));
          }
          return made;
        };

        const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

        const duration = ms => {
          if (ms === null || ms === undefined) return "";
          if (ms < 1) return ms.toFixed(2) + " ms";
          if (ms < 10) return ms.toFixed(1) + " ms";
          if (ms < 1000) return Math.round(ms) + " ms";
          if (ms < 60000) return (ms / 1000).toFixed(2) + " s";
          return (ms / 60000).toFixed(1) + " min";
        };

        const bytes = count => {
          if (count === null || count === undefined) return "";
          if (count < 1000) return count + " B";
          if (count < 1e6) return (count / 1e3).toFixed(count < 1e4 ? 1 : 0) + " kB";
          if (count < 1e9) return (count / 1e6).toFixed(count < 1e7 ? 1 : 0) + " MB";
          return (count / 1e9).toFixed(1) + " GB";
        };

        const number = value => value.toLocaleString("en");

        // Splits a URL without a parser: the text is masked, and may be hostile.
        const parts = url => {
          const match = /^([a-z][a-z0-9+.-]*:\/\/)([^\/?#]*)(.*)$/i.exec(url || "");
          return match ? { host: match[2], path: match[3] || "/" } : { host: "", path: url || "" };
        };

        const phaseNames = ["blocked", "dns", "connect", "tls", "send", "wait", "receive"];
        const phaseTitles = ["Queue", "Name lookup", "Connect", "TLS", "Send", "Wait", "Receive"];
        """#

    static let model = #"""
        const model = {
          rows: new Map(), awaited: new Set(), roots: [], children: new Map(), shown: [], collapsed: new Set(), limit: 10000,
          start: null, dropped: 0, missed: 0, local: 0, now: 0, nowAt: 0, paused: false, held: new Map(),
          selected: null, tools: null, lostAt: null, needsOrder: false,
        };
        const filters = { text: "", host: "", status: "", kind: "", failed: false };

        // Running activities stop at the last known time when the program has ended.
        const currentTime = () => model.now ? model.now + ((model.lostAt ?? performance.now()) - model.nowAt) : 0;

        // Bytes per second, over the last second or more.
        const measureRate = (row, old) => {
          if (row.state !== "running") return;
          const moved = (row.received || 0) + (row.sent || 0);
          const last = old && old.sample;
          const time = last ? model.now - last.at : 0;
          row.sample = !last || moved < last.moved ? { at: model.now, moved, rate: 0 }
            : time < 1000 ? last : { at: model.now, moved, rate: (moved - last.moved) / time * 1000 };
        };

        const putRow = row => {
          const old = model.rows.get(row.id);
          const url = parts(row.url);
          row.host = url.host;
          row.path = url.path;
          row.search = [row.url, row.label, row.method, row.error, row.type, row.source, row.agent, row.kind]
            .filter(Boolean).join(" ").toLowerCase();
          measureRate(row, old);
          model.rows.set(row.id, row);
          if (old) return;
          if (model.awaited.delete(row.id)) model.needsOrder = true;
          const parent = row.parent !== undefined && row.parent < row.id && model.rows.has(row.parent);
          if (parent) {
            if (!model.children.has(row.parent)) model.children.set(row.parent, []);
            model.children.get(row.parent).push(row.id);
          } else {
            if (row.parent !== undefined && model.awaited.size < 1000) model.awaited.add(row.parent);
            if (model.roots.length && model.roots[model.roots.length - 1] > row.id) model.needsOrder = true;
            model.roots.push(row.id);
          }
        };

        // A late parent, for example after a page reconnects, or rows that arrive out of order.
        const orderRows = () => {
          model.roots = [];
          model.children = new Map();
          for (const id of [...model.rows.keys()].sort((a, b) => a - b)) {
            const row = model.rows.get(id);
            if (row.parent !== undefined && row.parent < id && model.rows.has(row.parent)) {
              if (!model.children.has(row.parent)) model.children.set(row.parent, []);
              model.children.get(row.parent).push(id);
            } else model.roots.push(id);
          }
          model.needsOrder = false;
        };

        // Forgets the oldest finished rows above the limit.
        const trimRows = () => {
          let surplus = model.rows.size - model.limit;
          if (surplus < model.limit / 20 && surplus < 500) return;
          for (const id of [...model.rows.keys()].sort((a, b) => a - b)) {
            if (surplus <= 0) break;
            const row = model.rows.get(id);
            if (row.state === "running" || id === model.selected) continue;
            model.rows.delete(id);
            model.collapsed.delete(id);
            model.local += 1;
            surplus -= 1;
          }
          model.needsOrder = true;
        };

        const passes = row => {
          if (filters.failed && row.state !== "failure" && !(row.status >= 400)) return false;
          if (filters.kind && row.kind !== filters.kind) return false;
          if (filters.host && row.host !== filters.host) return false;
          if (filters.status === "running" ? row.state !== "running"
            : filters.status && Math.floor((row.status || 0) / 100) !== Number(filters.status)) return false;
          return !filters.text || row.search.includes(filters.text);
        };

        const isFiltered = () =>
          Boolean(filters.text || filters.host || filters.status || filters.kind || filters.failed);

        // Lists the visible rows, depth first. With filters, the parents of a match stay.
        const selectRows = () => {
          if (model.needsOrder) orderRows();
          const filtered = isFiltered();
          const shown = [];
          const visit = (id, depth, level) => {
            const row = model.rows.get(id);
            if (!row) return false;
            const children = model.children.get(id);
            row.depth = depth;
            row.hasChildren = Boolean(children);
            const at = shown.length;
            let matches = !filtered || passes(row);
            shown.push(row);
            const open = filtered || !model.collapsed.has(id);
            if (children && open && level < 64) {
              for (const child of children) if (visit(child, Math.min(depth + 1, 8), level + 1)) matches = true;
            }
            if (!matches) shown.length = at;
            return matches;
          };
          for (const id of model.roots) visit(id, 0, 0);
          model.shown = shown;
        };

        const applyRows = rows => {
          for (const row of rows) {
            if (model.paused) model.held.set(row.id, row); else putRow(row);
          }
          if (!model.paused) trimRows();
          while (model.held.size > model.limit) model.held.delete(model.held.keys().next().value);
        };

        const forgetRows = () => {
          for (const [id, row] of [...model.rows]) if (row.state !== "running") model.rows.delete(id);
          for (const [id, row] of [...model.held]) if (row.state !== "running") model.held.delete(id);
          model.local = 0;
          model.needsOrder = true;
        };
        """#
}
