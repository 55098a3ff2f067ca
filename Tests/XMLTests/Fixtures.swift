import Errand
import ErrandEssentials
import ErrandXML
import Synchronization

/// A document with every construct under test.
let atom = """
    <?xml version="1.0" encoding="utf-8"?>
    <!-- a feed -->
    <?xml-stylesheet href="a.css"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="urn:media" xml:lang="de">
      <title>Z\u{FC}rich &amp; \u{6F22}\u{5B57} &#x1F600;</title>
      <entry m:id='7' id="8" note="a > b"><title><![CDATA[a < b]]> and <b>more</b></title></entry>
      <entry/><m:entry xmlns:m="urn:other">x</m:entry>
    </feed>
    """

let atomNamespace = "http://www.w3.org/2005/Atom"

extension XMLTree {
    init(_ text: String, limits: XMLLimits = .standard) throws(XMLError) {
        try self.init(Data(text.utf8), limits: limits)
    }
}

/// Returns the error of parsing a document as a tree; nil if it succeeds.
func failure(of data: Data, charset: String? = nil, limits: XMLLimits = .standard) -> XMLError? {
    do throws(XMLError) {
        _ = try XMLTree(data, charset: charset, limits: limits)
        return nil
    } catch { return error }
}

func failure(of text: String, limits: XMLLimits = .standard) -> XMLError? {
    failure(of: Data(text.utf8), limits: limits)
}

/// Returns the error of parsing a document as a stream; nil if it succeeds.
func streamFailure(of data: Data, charset: String? = nil, limits: XMLLimits = .streaming) async throws -> XMLError? {
    do {
        for try await _ in XMLEvents(HTTPBody(chunks: [data]), charset: charset, limits: limits) {}
        return nil
    } catch let error as XMLError { return error }
}

extension HTTPBody {
    /// Creates a stream of chunks that are pulled one at a time.
    init(chunks: [Data]) {
        let left = Mutex(chunks[...])
        self.init { left.withLock { $0.popFirst() } }
    }
}

extension AsyncSequence {
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

/// Joins adjacent texts, which arrive split at arbitrary positions.
func joined(_ events: [XMLEvent]) -> [XMLEvent] {
    events.reduce(into: []) { all, event in
        if case .text(let more) = event, case .text(let before)? = all.last {
            all[all.count - 1] = .text(before + more)
        } else {
            all.append(event)
        }
    }
}

func utf16(_ text: String, isBigEndian: Bool, mark: Bool) -> Data {
    let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
    return Data(
        units.flatMap { isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
}
