#if os(Linux)
import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite(
    "The waterfall in Chromium", .serialized, .enabled(if: Program("chromium") != nil, "chromium is needed"),
    .endsInTime, .leakChecked)
struct BrowserTests {
    private struct Measured: Decodable {
        let width: Double
        let isDark: Bool
        /// How far the widest element extends beyond the window.
        let overflow: Double
        let contrast: Double
        /// The text with the least contrast.
        let text: String
    }

    private func page() async throws -> String {
        let server = try TestServer()
        let gate = Gate()
        server.on("/v1/*", .text("ok"))
        server.on(.get, "/v1/old", .redirect(to: "/v1/text?token=12345678"))
        server.on(.get, "/v1/nothing", .text("no", status: 404))
        server.on(.get, "/v1/never", .text("late").waiting(for: gate))
        let recorder = ExchangeRecorder()
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system,
            filters: [Again(), .cache(.memory(), policy: .timed(.seconds(60)))], accessories: [recorder])
        _ = try await agent.run(
            Chain("sign in") { steps in
                _ = try await steps.send(Get())
                return try await steps.run(Batch(Get(), Get(path: "old"), label: "two at once"))
            })
        _ = try? await agent.send(Get(path: "nothing"))
        let long = (0..<40).map { "a-rather-long-segment-\($0)" }.joined(separator: "/")
        _ = try await agent.send(
            Get(path: long), options: CallOptions(label: String(repeating: "Unbreakable", count: 30)))
        let count = server.requestCount
        let handle = agent.start(Get(path: "never"))
        try await server.wait(forRequests: count + 1)
        handle.cancel()
        _ = await handle.result
        gate.open()
        return recorder.waterfallPage(title: "One morning").html
    }

    /// Returns the document as the browser has parsed it.
    private func open(_ html: String, width: Int, isDark: Bool) async throws -> String {
        let directory = try Folder(["page.html": html])
        let folder = directory.url.path
        let browser = try #require(Program("chromium"))
        let output = try await browser.run(
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--user-data-dir=\(folder)/profile", "--window-size=\(width),900", "--dump-dom",
                "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)",
                "file://\(folder)/page.html",
            ], limit: .seconds(90))
        try #require(output.status == 0, "\(output.complaint.suffix(500))")
        return output.text
    }

    /// Measures the unchanged page with an added script. Uses a frame of the requested width, because a window may
    /// not become that narrow.
    private func measure(_ html: String, width: Int, isDark: Bool) async throws -> Measured {
        let policy = try #require(html.firstMatch(of: #/<meta http-equiv="Content-Security-Policy"[^>]*>/#))
        let open = html.replacingCharacters(in: policy.range, with: "")
        let inner = open.replacing("</body>", with: "<script>\(Self.script)</script></body>")
        let source = Data(inner.utf8).base64EncodedString()
        let outer = """
            <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>-</title>
            <iframe id="frame" width="\(width)" height="800" style="border:0"></iframe>
            <script>
            addEventListener("message", event => { document.title = event.data });
            const bytes = Uint8Array.from(atob("\(source)"), c => c.charCodeAt(0));
            document.getElementById("frame").srcdoc = new TextDecoder().decode(bytes);
            </script>
            """
        let dom = try await self.open(outer, width: max(width + 100, 800), isDark: isDark)
        let title = try #require(dom.firstMatch(of: #/<title>([^<]*)</title>/#))
        return try JSONDecoder().decode(Measured.self, from: Data(title.1.utf8))
    }

    @Test("its text names every request without a script")
    func withoutScripts() async throws {
        let html = try await page()
        // The page contains no scripts and forbids them.
        #expect(!html.contains("<script") && html.contains("default-src 'none'"))
        let dom = try await open(html, width: 1200, isDark: false)
        let text = dom.replacing(#/<style>[\s\S]*?<\/style>/#, with: "").replacing(#/<[^>]*>/#, with: " ")
        for name in [
            "/v1/text", "/v1/old", "/v1/nothing", "/v1/never", "a-rather-long-segment-7", "sign in", "two at once",
            "404", "cache", "redirect", "attempt 2", "cancelled", "UnbreakableUnbreakable",
        ] {
            #expect(text.contains(name), "\(name)")
        }
        #expect(!text.contains("12345678"))
    }

    @Test("no text overflows, and all text is legible", arguments: [400, 1600], [true, false])
    func looks(width: Int, isDark: Bool) async throws {
        let measured = try await measure(try await page(), width: width, isDark: isDark)
        #expect(measured.width == Double(width) && measured.isDark == isDark)
        #expect(measured.overflow <= 0.5)
        #expect(measured.contrast >= 4.5, "\(measured.text)")
    }

    @Test("the measurement finds faults")
    func measureItself() async throws {
        let html = """
            <!DOCTYPE html><html><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"></head>
            <body style="background:#fff"><p style="width:700px;color:#999">pale</p></body></html>
            """
        let measured = try await measure(html, width: 400, isDark: false)
        #expect(measured.overflow > 200 && measured.contrast < 3 && measured.contrast > 2 && measured.text == "pale")
    }

    /// Contrast by WCAG 2.1, section 1.4.3; text over bars is measured against its element's own background.
    private static let script = """
        addEventListener("load", () => {
          const probe = document.createElement("i");
          probe.style.cssText = "position:absolute;width:0;background:Canvas";
          document.body.append(probe);
          const parse = text => {
            const parts = text.match(/[\\d.]+/g).map(Number);
            const scale = text.startsWith("color(") ? 255 : 1;
            return [parts[0] * scale, parts[1] * scale, parts[2] * scale, parts.length > 3 ? parts[3] : 1];
          };
          const canvas = parse(getComputedStyle(probe).backgroundColor);
          probe.remove();
          const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat([1]);
          const ground = element => {
            const layers = [];
            for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
            return layers.reverse().reduce((below, layer) => over(layer, below), canvas);
          };
          const light = color => {
            const [r, g, b] = color.slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          let [contrast, text, overflow] = [21, "", 0];
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) {
            const element = walk.currentNode.parentElement;
            if (!walk.currentNode.data.trim() || element.tagName == "SCRIPT") continue;
            const back = ground(element);
            const [a, b] = [light(over(parse(getComputedStyle(element).color), back)), light(back)];
            const found = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (found < contrast) [contrast, text] = [found, walk.currentNode.data.replace(/[^A-Za-z0-9 ]/g, "").slice(0, 60)];
          }
          for (const element of document.querySelectorAll("body, body *"))
            overflow = Math.max(overflow, element.getBoundingClientRect().right - innerWidth);
          overflow = Math.max(overflow, document.documentElement.scrollWidth - innerWidth);
          const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
          parent.postMessage(JSON.stringify({width: innerWidth, isDark, overflow, contrast, text}), "*");
        });
        """
}
#endif
