import Errand
import ErrandEssentials
import ErrandSupport

/// Parses a multipart body (RFC 2046, section 5.1), at any split into chunks: no I/O, no waiting.
///
/// The end of the first boundary's line determines the line end of the whole body: CR LF, or LF alone as some servers
/// write it.
struct MultipartParser {
    enum Event {
        /// A part begins.
        case head(HTTPHeaders)
        /// Bytes of the part, at least one.
        case body(Data)
        case endOfPart
        /// The body has ended; a possible epilogue is ignored.
        case end
    }

    private enum Section { case preamble, head, body, epilogue }

    private let limits: MultipartLimits
    private var scanner: BoundaryScanner
    private var buffer = Data()
    private var section = Section.preamble
    private var preambleBytes = 0
    private var parts = 0
    private var isFinished = false

    init(boundary: String, limits: MultipartLimits) {
        scanner = BoundaryScanner(boundary)
        self.limits = limits
    }

    /// Adds bytes, once `next` has returned nil.
    mutating func push(_ chunk: Data) {
        // In fresh memory: a slice would keep what was dropped before it.
        var joined = Data(capacity: buffer.count + chunk.count)
        joined.append(buffer)
        joined.append(chunk)
        buffer = joined
    }

    /// No more bytes come.
    mutating func finish() { isFinished = true }

    /// The next event; nil if more bytes are needed. Throws for a malformed body, `truncated` if it ends too early.
    mutating func next() throws -> Event? {
        if section == .preamble, try !skipPreamble() { return nil }
        return switch section {
        case .preamble: nil
        case .head: try head()
        case .body: try body()
        case .epilogue: .end
        }
    }

    /// Whether the first boundary was found.
    private mutating func skipPreamble() throws -> Bool {
        let found = scanner.find(in: buffer, isWhole: isFinished)
        switch found {
        case .boundary(let start, _, _): preambleBytes += start
        case .none(let safe): preambleBytes += safe
        }
        guard preambleBytes <= limits.maximumPreambleBytes else {
            throw MultipartError(.limitExceeded, "more than \(limits.maximumPreambleBytes) bytes before the first part")
        }
        switch found {
        case .boundary(_, let end, let isLast):
            pass(end, isLast)
            return true
        case .none(let safe):
            drop(safe)
            if isFinished { throw Self.truncated("before its first part") }
            return false
        }
    }

    private mutating func head() throws -> Event? {
        let line = scanner.lineEnd
        let found = Self.headEnd(buffer.span, line)
        guard found?.end ?? buffer.count <= limits.maximumHeaderBytes else {
            throw MultipartError(
                .limitExceeded, "the headers of a part are longer than \(limits.maximumHeaderBytes) bytes")
        }
        guard let found else {
            if isFinished { throw Self.truncated("within the headers of a part") }
            return nil
        }
        parts += 1
        guard parts <= limits.maximumParts else {
            throw MultipartError(.limitExceeded, "more than \(limits.maximumParts) parts")
        }
        let headers = try PartHeaders.parse(buffer.prefix(found.end), lineEnd: line)
        drop(found.next)
        section = .body
        scanner.isAtLineStart = true
        return .head(headers)
    }

    /// Where the header fields end, and where the content begins; nil if more bytes are needed.
    private static func headEnd(_ bytes: Span<UInt8>, _ line: [UInt8]) -> (end: Int, next: Int)? {
        if bytes.contains(line) { return (0, line.count) }
        return bytes.firstIndex(of: line + line).map { ($0, $0 + 2 * line.count) }
    }

    private mutating func body() throws -> Event? {
        let found = scanner.find(in: buffer, isWhole: isFinished)
        let count =
            switch found {
            case .boundary(let start, _, _): start
            case .none(let safe): safe
            }
        if count > 0 {
            let piece = Data(buffer.prefix(count))
            drop(count)
            return .body(piece)
        }
        if case .boundary(_, let end, let isLast) = found {
            pass(end, isLast)
            return .endOfPart
        }
        if isFinished { throw Self.truncated("within a part") }
        return nil
    }

    /// Continues behind a boundary.
    private mutating func pass(_ end: Int, _ isLast: Bool) {
        drop(end)
        section = isLast ? .epilogue : .head
        if isLast { buffer = Data() }
    }

    private mutating func drop(_ count: Int) {
        if count == 0 { return }
        buffer = buffer.dropFirst(count)
        scanner.isAtLineStart = false
    }

    private static func truncated(_ part: String) -> MultipartError {
        MultipartError(.truncated, "the body ended \(part)")
    }
}
