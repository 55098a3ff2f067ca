extension InspectorScript {
    static let bodies = #"""
        const decode = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));

        const hexView = base64 => {
          const data = decode(base64).subarray(0, 16384);
          const lines = [];
          for (let at = 0; at < data.length; at += 16) {
            const row = [...data.subarray(at, at + 16)];
            const hex = row.map(byte => byte.toString(16).padStart(2, "0")).join(" ").padEnd(48);
            const text = row.map(byte => byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".").join("");
            lines.push(at.toString(16).padStart(6, "0") + "  " + hex + " " + text);
          }
          return element("pre", { class: "hex" }, lines.join("\n"));
        };

        // One level at a time: a branch gets its elements when it is opened.
        const jsonView = (value, name, isOpen) => {
          const label = name === undefined ? null : [element("span", { class: "j-name" }, name), ": "];
          if (value === null || typeof value !== "object") {
            const kind = value === null ? "null" : typeof value;
            return element("div", { class: "j-leaf" }, label,
              element("span", { class: "j-" + kind }, kind === "string" ? JSON.stringify(value) : String(value)));
          }
          const isArray = Array.isArray(value);
          const keys = Object.keys(value);
          if (!keys.length) return element("div", { class: "j-leaf" }, label, isArray ? "[]" : "{}");
          const summary = element("summary", {}, label,
            element("span", { class: "soft" }, isArray ? "[" + keys.length + "]" : "{" + keys.length + "}"));
          const box = element("details", { class: "json" }, summary);
          let count = 0;
          const fill = () => {
            const end = Math.min(keys.length, count + 200);
            for (; count < end; count += 1) box.append(jsonView(value[keys[count]], keys[count], false));
            if (count < keys.length) {
              const more = element("button", { type: "button", class: "link" }, "Show more of " + keys.length);
              more.addEventListener("click", () => { more.remove(); fill(); });
              box.append(more);
            }
          };
          box.addEventListener("toggle", () => { if (box.open && !count) fill(); });
          if (isOpen) { box.open = true; fill(); }
          return box;
        };

        const imageTypes = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)\b/i;

        // The address of the shown image, to be released with the next one.
        let imageAddress = [];
        const imageView = body => {
          const type = imageTypes.exec(body.type)[0].toLowerCase();
          const address = URL.createObjectURL(new Blob([decode(body.base64)], { type }));
          imageAddress.push(address);
          return element("img", { src: address, alt: "The body as an image", class: "body-image" });
        };
        const releaseImages = () => {
          for (const address of imageAddress.splice(0)) URL.revokeObjectURL(address);
        };

        const views = body => {
          const list = [];
          if (body.text !== undefined) {
            let value;
            const start = body.text.trimStart()[0];
            if (start === "{" || start === "[" || /json/i.test(body.type || "")) {
              try { value = JSON.parse(body.text); list.push(["Tree", () => jsonView(value, undefined, true)]); } catch { /* Shown as text. */ }
            }
            list.push(["Text", () => element("pre", { class: "body-text" }, body.text.slice(0, 300000))]);
            list.push(["Hex", () => hexView(btoa(String.fromCharCode(...new TextEncoder().encode(body.text.slice(0, 16384)).subarray(0, 16384))))]);
          } else if (body.base64) {
            if (imageTypes.test(body.type || "") && !body.truncated) list.push(["Image", () => imageView(body)]);
            list.push(["Hex", () => hexView(body.base64)]);
          }
          return list;
        };

        const bodyFacts = (body, wire) => {
          const texts = [];
          if (body.type) texts.push(body.type);
          if (body.length) texts.push(bytes(body.length));
          if (wire !== undefined && body.length && wire !== body.length) texts.push(bytes(wire) + " on the wire");
          if (body.truncated) texts.push("the first " + bytes(body.copied) + " were kept");
          if (body.omission) texts.push(body.omission);
          return texts.join(" · ");
        };

        const bodyView = (title, body, wire) => {
          const list = views(body);
          const content = element("div", { class: "body-content" });
          const buttons = list.map(([name, view], index) => element("button", {
            type: "button", "aria-pressed": String(index === 0),
            on: { click: event => {
              for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
              content.replaceChildren(view());
            } },
          }, name));
          if (list.length) content.append(list[0][1]());
          const isEmpty = !list.length && !body.omission;
          return [heading(title), element("div", { class: "body-head" },
            element("span", { class: "soft" }, bodyFacts(body, wire) || (isEmpty ? "Empty." : "")),
            list.length > 1 ? element("span", { class: "views", role: "group", "aria-label": "View" }, buttons) : null), content];
        };

        panels.bodies = data => {
          releaseImages();
          return [
            data.other && bodyView("Response from " + (data.source || "a filter"), data.other.body),
            data.exchanges.map(exchange => [
              hopTitle(data, exchange),
              exchange.response && bodyView("Response", exchange.response.body, exchange.wireReceived),
              bodyView("Request", exchange.requestBody)]),
          ];
        };
        """#
}
