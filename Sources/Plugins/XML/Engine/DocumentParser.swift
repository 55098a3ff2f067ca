import Errand
import ErrandEssentials
import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Reads one document with Foundation's parser, which gets UTF-8 without declarations of types; see ``MarkupScanner``.
///
/// Blocks the calling thread until the document has ended.
final class DocumentParser: NSObject, XMLParserDelegate {
    /// Takes the events so far, and returns the next bytes; nil at the end.
    typealias Source = (DocumentParser) throws(XMLError) -> Data?

    private let limits: XMLLimits
    private let next: Source
    private var decoder: CharsetDecoder
    private var scanner: MarkupScanner
    private var namespaces = NamespaceScope()
    private var open: [XMLName] = []
    private var events: [XMLEvent] = []
    private var text = ""

    private var output: [UInt8] = []
    private var position = 0
    private var hasEnded = false
    private var isPadded = false
    /// Whether the parser has had all that there is, so that what it finds then may be for want of more.
    private var isDry = false
    private var isMismatch = false
    /// Found by the parser within the document.
    private var failure: XMLError?
    /// Found ahead of the parser: it still gets what comes before.
    private var failureAhead: XMLError?
    /// Found by the parser when the document had ended.
    private var failureAtEnd: XMLError?

    init(charset: String?, limits: XMLLimits, next: @escaping Source) {
        (self.limits, self.next) = (limits, next)
        decoder = CharsetDecoder(header: charset, limit: limits.maximumBytes)
        scanner = MarkupScanner(limits)
    }

    /// Behind the last byte that was read.
    var place: (line: Int, column: Int) { scanner.place }

    /// Takes what the parser has found since the last time.
    func takeEvents() -> [XMLEvent] {
        flush()
        defer { events = [] }
        return events
    }

    private func flush() {
        if text.isEmpty { return }
        events.append(.text(text))
        text = ""
    }

    /// Reads the document; the last events are there to take then.
    func run() throws(XMLError) {
        let parser = XMLParser(stream: PulledStream { [unowned self] in fill($0) })
        parser.shouldProcessNamespaces = false
        parser.shouldReportNamespacePrefixes = false
        parser.shouldResolveExternalEntities = false
        parser.delegate = self
        let isComplete = parser.parse()
        if let error = failure ?? failureAhead ?? truncation ?? failureAtEnd { throw error }
        if !isComplete || !open.isEmpty { throw XMLError(.malformed, "the document is not well-formed", at: place) }
    }

    private var truncation: XMLError? {
        if scanner.isComplete { return nil }
        if isMismatch, let failureAtEnd { return failureAtEnd }
        if scanner.isWithinMarkup {
            return XMLError(.truncated, "the document ends within a tag or comment", at: place)
        }
        if scanner.depth > 0 { return XMLError(.truncated, "the document ends within an element", at: place) }
        if scanner.hasText { return failureAtEnd ?? XMLError(.malformed, "this is no XML") }
        return XMLError(.truncated, "the document ends before its root element", at: place)
    }

    // MARK: Bytes for the parser

    /// Fills a buffer of the parser; 0 ends the document.
    private func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        while failure == nil {
            if position < output.count {
                let count = min(buffer.count, output.count - position)
                _ = buffer.update(fromContentsOf: output[position..<(position + count)])
                position += count
                return count
            }
            if failureAhead != nil { break }
            guard hasEnded else {
                advance()
                continue
            }
            // On Linux the parser does not look at a document of up to four bytes. White space at its end changes nothing.
            if !scanner.isComplete || isPadded { break }
            isPadded = true
            let count = min(8, buffer.count)
            for index in 0..<count { buffer[index] = UInt8(ascii: "\n") }
            return count
        }
        isDry = true
        return 0
    }

    private func advance() {
        output.removeAll(keepingCapacity: true)
        position = 0
        var utf8: [UInt8] = []
        do throws(XMLError) {
            let chunk = try next(self)
            hasEnded = chunk == nil
            do throws(XMLError) { try decoder.push(chunk ?? Data(), isLast: hasEnded, into: &utf8) } catch {
                try take(utf8)
                throw error
            }
            try take(utf8)
        } catch {
            failureAhead = error.line == 1 && error.column == 1 ? error.at(place) : error
        }
    }

    private var bytes = 0

    private func take(_ utf8: [UInt8]) throws(XMLError) {
        bytes += utf8.count
        guard bytes <= limits.maximumBytes else {
            throw XMLError(.tooLarge, "the document is longer than \(limits.maximumBytes) bytes")
        }
        try scanner.scan(utf8, into: &output)
    }

    // MARK: What the parser finds

    /// Whether what it finds counts no more: a tag that is cut off is an element to the parser, at the end.
    private var isDeaf: Bool { failure != nil || isDry && !scanner.isComplete }

    private func fail(_ error: XMLError, _ parser: XMLParser) {
        if isDry {
            failureAtEnd = failureAtEnd ?? error.at(place)
        } else {
            failure = error.at((max(1, parser.lineNumber), max(1, parser.columnNumber)))
        }
        parser.abortParsing()
    }

    /// An element begins.
    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String] = [:]
    ) {
        guard !isDeaf else { return }
        guard open.count < limits.maximumDepth else {
            let message = "elements are nested deeper than \(max(0, limits.maximumDepth)) levels"
            return fail(XMLError(.tooDeep, message), parser)
        }
        do throws(XMLError) {
            let (name, attributes) = try namespaces.enter(elementName, attributeDict)
            open.append(name)
            flush()
            events.append(.start(name, attributes))
        } catch { fail(error, parser) }
    }

    /// An element ends.
    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard !isDeaf, let name = open.popLast() else { return }
        namespaces.leave()
        flush()
        events.append(.end(name))
    }

    /// A piece of text.
    func parser(_ parser: XMLParser, foundCharacters string: String) { add(string) }

    /// A CDATA section, or a piece of it.
    func parser(_ parser: XMLParser, foundCDATA block: Data) { add(String(decoding: block, as: UTF8.self)) }

    private func add(_ more: String) {
        if !isDeaf, !open.isEmpty { text += more }
    }

    /// A failure, or a warning.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        let code = parseError._code
        guard failure == nil, !ParserCode.isWarning(code) else { return }
        let error = XMLError(ParserCode.isNamespace(code) ? .namespace : .malformed, ParserCode.message(code))
        if isDry, failureAtEnd == nil { isMismatch = code == ParserCode.mismatch }
        fail(error, parser)
    }
}

/// A stream whose bytes are pulled by the parser.
private final class PulledStream: InputStream {
    private let fill: (UnsafeMutableBufferPointer<UInt8>) -> Int
    private var status = Stream.Status.notOpen

    init(_ fill: @escaping (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        self.fill = fill
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { status == .open }
    override func open() { status = .open }
    override func close() { status = .closed }

    #if canImport(Darwin)
    // The methods that Foundation declares for every stream and leaves to each subclass: those that are missing raise an
    // exception once the parser calls them.
    override var delegate: (any StreamDelegate)? {
        get { nil }
        set {}
    }
    override func property(forKey key: Stream.PropertyKey) -> Any? { nil }
    override func setProperty(_ property: Any?, forKey key: Stream.PropertyKey) -> Bool { false }
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    #endif

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        fill(UnsafeMutableBufferPointer(start: buffer, count: len))
    }
}
