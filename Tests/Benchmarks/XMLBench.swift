import Errand
import ErrandXML
import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Compares XML with Foundation's parser, whose delegate only counts.
enum XMLBench {
    static func run() async throws {
        for (name, document) in [("a feed", feed(entries: 20_000)), ("long text", text(lines: 100_000))] {
            var rounds = Rounds()
            func take(_ name: String, _ body: () async throws -> Void) async rethrows {
                try await rounds.take(name) { Double(document.count) / (try await microseconds(1, body)) }
            }
            for _ in 0..<5 {
                try await take("XMLParser of Foundation") {
                    let (parser, counter) = (XMLParser(data: document), Counter())
                    parser.delegate = counter
                    guard parser.parse(), counter.count > 0 else { throw Failure() }
                }
                try await take("XMLEvents") {
                    var count = 0
                    for try await _ in XMLEvents(HTTPBody(document)) { count += 1 }
                    guard count > 0 else { throw Failure() }
                }
                try await take("XMLTree") { _ = try XMLTree(document) }
            }
            print(name)
            rounds.report("MB/s", against: "XMLParser of Foundation")
        }
    }

    private struct Failure: Error {}

    private final class Counter: NSObject, XMLParserDelegate {
        var count = 0

        func parser(
            _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
            qualifiedName qName: String?, attributes attributeDict: [String: String] = [:]
        ) { count += 1 }

        func parser(
            _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
        ) { count += 1 }

        func parser(_ parser: XMLParser, foundCharacters string: String) { count += string.utf8.count }
    }

    private static func feed(entries: Int) -> Data {
        var text = "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom' xmlns:m='urn:m'>\n"
        for number in 0..<entries {
            text += "<entry id=\"\(number)\" m:kind='a'><title>Entry number \(number) &amp; more</title>"
            text += "<link href='http://example.com/\(number)'/><summary>What a summary of an entry usually says, in"
            text += " a line that is neither long nor short; Zürich.</summary></entry>\n"
        }
        return Data((text + "</feed>").utf8)
    }

    private static func text(lines: Int) -> Data {
        let line = "A line of a document that has few tags, as books and articles do, one after the other.\n"
        return Data(("<a>" + String(repeating: line, count: lines) + "</a>").utf8)
    }
}
