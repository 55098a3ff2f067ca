import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandRecording

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite(.endsInTime, .leakChecked)
struct WaterfallPageTests {
    /// Collects the page's text without tags, and checks that every element that needs closing is closed.
    private final class Text: NSObject, XMLParserDelegate {
        var text = ""
        var elements: [String] = []
        var styles: [String] = []
        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            elements.append(name)
            if let style = attributes["style"] { styles.append(style) }
        }
    }

    private func read(_ html: String) throws -> Text {
        // The body is well-formed XML.
        let start = try #require(html.firstRange(of: "<body>"))
        let end = try #require(html.firstRange(of: "</body>"))
        let reader = Text()
        let parser = XMLParser(data: Data(html[start.lowerBound..<end.upperBound].utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        return reader
    }

    @Test("every request is named, with parts below their composite, and redirects, retries and cache hits in words")
    func contents() async throws {
        let server = try TestServer()
        server.on(.get, "/v1/old", .redirect(to: "/v1/text?token=12345678"))
        server.on(.get, "/v1/text", .text("ok"))
        server.on(.get, "/v1/nothing", .text("no", status: 404))
        let recorder = ExchangeRecorder()
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system,
            filters: [Again(), .cache(.memory(), policy: .timed(.seconds(60)))], accessories: [recorder])
        _ = try await agent.run(
            Chain("sign <up> & \"in\"") { steps in
                _ = try await steps.send(Get())
                return try await steps.run(Batch(Get(), Get(path: "old"), label: "two"))
            })
        _ = try? await agent.send(Get(path: "nothing"))
        let html = recorder.waterfallPage(title: "It's a <test>").html
        #expect(!html.contains("<script") && !html.contains("http-equiv=\"refresh\""))
        #expect(!html.contains("src=") && !html.contains("href=") && !html.contains("url("))
        #expect(!html.contains("12345678"))
        if let path = ProcessInfo.processInfo.environment["ERRAND_WATERFALL"] {
            try html.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let page = try read(html)
        for words in [
            "It's a <test>", "chain sign <up> & \"in\"", "batch two", "from cache", "redirect", "hop 2", "attempt 2",
            "failed: unacceptableStatus", "/v1/text?token=•••", "6 activities",
        ] { #expect(page.text.contains(words), "\(words)") }
        #expect(page.styles.contains("--depth:0") && page.styles.contains("--depth:1"))
        #expect(page.styles.contains("--depth:2"))
        for style in page.styles where style.hasPrefix("left:") {
            let numbers = style.matches(of: #/[\d.]+/#).compactMap { Double($0.0) }
            #expect(numbers.count == 2 && numbers[0] + numbers[1] <= 100.02, "\(style)")
        }
    }

    @Test("a batch without a label is named by its kind once")
    func unnamed() async throws {
        let recorder = ExchangeRecorder()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [recorder])
        _ = try await agent.run(Batch(Get(), Get()))
        let html = recorder.waterfallPage().html
        #expect(html.contains("batch") && !html.contains("<b>batch</b> batch"))
    }

    @Test("an empty page and a truncated page are rendered")
    func bounds() async throws {
        let recorder = ExchangeRecorder(maximumExchanges: 10)
        #expect(try read(recorder.waterfallPage().html).text.contains("0 activities in 0.0 ms"))
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [recorder])
        for number in 0..<25 { _ = try await agent.send(Get(path: "item-\(number)")) }
        let page = try read(recorder.waterfallPage().html)
        #expect(page.text.contains("10 activities") && page.text.contains("15 earlier activities were dropped"))
        #expect(page.text.contains("item-24") && !page.text.contains("item-3,"))
    }

    @Test("the contrast of text is 4.5 or more, in light and in dark mode (WCAG 2, 1.4.3)")
    func contrast() throws {
        let css = WaterfallStyle.css
        let themes = css.matches(of: #/:root\{([^}]*)\}/#).map { match in
            Dictionary(
                uniqueKeysWithValues: match.1.matches(of: #/--(\w+):#([0-9a-f]+)/#).map {
                    (String($0.1), Self.luminance(String($0.2)))
                })
        }
        #expect(themes.count == 2)
        for theme in themes {
            let page = try #require(theme["page"])
            for name in ["text", "soft"] {
                let (a, b) = (try #require(theme[name]), page)
                #expect((max(a, b) + 0.05) / (min(a, b) + 0.05) >= 4.5, "\(name)")
            }
        }
    }

    private static func luminance(_ color: String) -> Double {
        let digits = color.count == 3 ? color.map { "\($0)\($0)" }.joined() : color
        let value = UInt32(digits, radix: 16) ?? 0
        let parts = [16, 8, 0].map { shift -> Double in
            let part = Double(value >> UInt32(shift) & 255) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
