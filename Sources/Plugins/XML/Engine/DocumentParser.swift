import Errand
import ErrandEssentials

struct DocumentParser: Sendable {
    private let limits: XMLLimits
    private var decoder: CharsetDecoder
    private var reader: DocumentReader
    private var count = 0

    init(charset: String?, limits: XMLLimits) {
        var limits = limits
        limits.maximumBytes = max(0, limits.maximumBytes)
        self.limits = limits
        decoder = CharsetDecoder(header: charset, limit: limits.maximumBytes)
        reader = DocumentReader(limits)
    }

    var location: XMLLocation { reader.end }

    mutating func takeEvents() -> [XMLEvent] { reader.takeEvents() }

    /// After a failure, you can still take the events before it.
    mutating func read(_ chunk: Data) throws(XMLError) { try read(chunk, isLast: false) }

    mutating func finish() throws(XMLError) {
        try read(Data(), isLast: true)
        try reader.finish()
    }

    private mutating func read(_ chunk: Data, isLast: Bool) throws(XMLError) {
        var utf8: [UInt8] = []
        var failure: XMLError?
        do throws(XMLError) { try decoder.push(chunk, isLast: isLast, into: &utf8) } catch { failure = error }
        let room = limits.maximumBytes - count
        if utf8.count > room {
            failure = XMLError(.tooLarge, "the document is longer than \(limits.maximumBytes) bytes")
            utf8.removeSubrange(max(0, room)...)
            // Keeps only whole characters.
            while let last = utf8.last, last >= 0x80 {
                utf8.removeLast()
                if last >= 0xC0 { break }
            }
        }
        count += utf8.count
        try reader.read(utf8)
        if let failure { throw XMLError(failure.code, failure.message, at: reader.end) }
    }
}
