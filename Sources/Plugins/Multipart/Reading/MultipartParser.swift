import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Parses a multipart body (RFC 2046, section 5.1) in chunks of any size, without I/O.
///
/// The line end after the first boundary decides which line ends the whole body has: CR LF, or only LF, as some servers
/// send.
struct MultipartParser {
    enum Event {
        case head(HTTPHeaders)
        /// At least one byte.
        case body(Data)
        case endOfPart
        /// An epilogue after the last part is ignored.
        case end
    }

    private enum Section { case preamble, head, body, epilogue }

    private let limits: MultipartLimits
    private var scanner: BoundaryScanner
    private var buffer = Data()
    private var section = Section.preamble
    private var preambleBytes = 0
    private var hasPreambleText = false
    private var parts = 0
    private var isFinished = false

    init(boundary: String, limits: MultipartLimits) {
        scanner = BoundaryScanner(boundary)
        self.limits = limits
    }

    /// Call it after `next` has returned `nil`.
    mutating func push(_ chunk: Data) {
        // A slice would keep its dropped bytes alive.
        var joined = Data(capacity: buffer.count + chunk.count)
        joined.append(buffer)
        joined.append(chunk)
        buffer = joined
    }

    mutating func finish() { isFinished = true }

    /// Returns `nil` if more bytes are needed. Throws if the body is malformed, and `truncated` if it ends too early.
    mutating func next() throws -> Event? {
        if section == .preamble, try !skipPreamble() { return nil }
        return switch section {
        case .preamble: nil
        case .head: try head()
        case .body: try body()
        case .epilogue: .end
        }
    }

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
        case .boundary(let start, let end, let isLast):
            hasPreambleText = hasPreambleText || buffer.prefix(start).contains { $0 > 0x20 }
            // The first boundary may be misspelled, and its part would be lost.
            if isLast, hasPreambleText {
                throw MultipartError(.malformedPart, "the body has text before its last boundary, but no part")
            }
            pass(end, isLast)
            return true
        case .none(let safe):
            hasPreambleText = hasPreambleText || buffer.prefix(safe).contains { $0 > 0x20 }
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
            if isFinished { throw Self.truncated("in the middle of a part's headers") }
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

    /// Returns `nil` if more bytes are needed.
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
        if isFinished { throw Self.truncated("in the middle of a part") }
        return nil
    }

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

/// Finds the lines that separate parts (RFC 2046, section 5.1.1): `--boundary`, blanks, line end. A line that only
/// starts with a boundary is content.
struct BoundaryScanner {
    enum Found {
        /// The content ends at `start`, and the boundary's line at `end`. `--` follows the last boundary.
        case boundary(start: Int, end: Int, isLast: Bool)
        /// The first `safe` bytes are content.
        case none(safe: Int)
    }

    private struct Delimiter {
        let bytes: [UInt8]
        let separator: [UInt8]

        init(_ text: String) {
            bytes = Array(text.utf8)
            separator = [BoundaryScanner.lf] + bytes
        }
    }

    private enum Line {
        case ends(Int, isLast: Bool)
        case isNone
        case needsMore
    }

    private static let paddingLimit = 256
    private static let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
    private var delimiter: Delimiter
    /// The boundary including its hyphens, as some cameras send it. The first boundary's line decides which form the
    /// body uses.
    private var hyphenated: Delimiter?
    /// Empty until the first boundary is found.
    private(set) var lineEnd: [UInt8] = []
    /// Whether the data starts at the beginning of a line.
    var isAtLineStart = true

    init(_ boundary: String) {
        delimiter = Delimiter("--" + boundary)
        // If a boundary consists only of hyphens, the two forms can't be distinguished: the last separator in one form
        // equals the first separator in the other form.
        let isHyphenated = boundary.hasPrefix("--") && boundary.contains { $0 != "-" }
        hyphenated = isHyphenated ? Delimiter(boundary) : nil
    }

    /// Also decides which form of the boundary the body uses. `isWhole` means that the data contains the last bytes of
    /// the body.
    mutating func find(in data: Data, isWhole: Bool) -> Found {
        var (found, lineEnd) = search(data.span, for: delimiter, isWhole)
        if let hyphenated {
            let other = search(data.span, for: hyphenated, isWhole)
            switch (found, other.0) {
            case (.none(let safe), .none(let otherSafe)): found = .none(safe: min(safe, otherSafe))
            // A line can't match both delimiters, because one of them begins with two more hyphens.
            case (.boundary(let start, _, _), .boundary(let otherStart, _, _)) where start <= otherStart:
                self.hyphenated = nil
            case (.boundary, .none): self.hyphenated = nil
            case (_, .boundary):
                (found, lineEnd) = other
                (delimiter, self.hyphenated) = (hyphenated, nil)
            }
        }
        if let lineEnd, self.lineEnd.isEmpty { self.lineEnd = lineEnd }
        return found
    }

    private func search(
        _ bytes: Span<UInt8>, for delimiter: Delimiter, _ isWhole: Bool
    ) -> (Found, [UInt8]?) {
        let (delimiter, separator) = (delimiter.bytes, delimiter.separator)
        if isAtLineStart {
            if bytes.contains(delimiter) {
                if let result = judge(bytes, contentEnd: 0, behind: delimiter.count, isWhole) { return result }
            } else if bytes.count < delimiter.count, !isWhole, delimiter.withSpan({ $0.starts(with: bytes) }) {
                return (.none(safe: 0), nil)
            }
        }
        var offset = 0
        while let feed = bytes.firstIndex(of: separator, from: offset) {
            offset = feed + 1
            let hasReturn = feed > 0 && bytes[feed - 1] == Self.cr
            if lineEnd.count == 2, !hasReturn { continue }
            let contentEnd = hasReturn && lineEnd.count != 1 ? feed - 1 : feed
            if let result = judge(bytes, contentEnd: contentEnd, behind: feed + separator.count, isWhole) {
                return result
            }
        }
        // Holds back the end of the data, which may contain a carriage return and the start of a separator.
        return (.none(safe: isWhole ? bytes.count : max(0, bytes.count - separator.count)), nil)
    }

    /// Checks the rest of a line that starts with a delimiter. Returns `nil` if it's content.
    private func judge(
        _ bytes: Span<UInt8>, contentEnd: Int, behind: Int, _ isWhole: Bool
    ) -> (Found, [UInt8]?)? {
        switch line(bytes, from: behind, isWhole) {
        case .ends(let end, let isLast):
            let isBare = end >= 2 && bytes[end - 1] == Self.lf && bytes[end - 2] != Self.cr
            return (.boundary(start: contentEnd, end: end, isLast: isLast), isBare ? [Self.lf] : [Self.cr, Self.lf])
        case .needsMore: return (.none(safe: contentEnd), nil)
        case .isNone: return nil
        }
    }

    private func line(_ bytes: Span<UInt8>, from start: Int, _ isWhole: Bool) -> Line {
        var offset = start
        var isLast = false
        if bytes.byte(at: offset) == UInt8(ascii: "-") {
            guard let second = bytes.byte(at: offset + 1) else { return isWhole ? .isNone : .needsMore }
            guard second == UInt8(ascii: "-") else { return .isNone }
            isLast = true
            offset += 2
        }
        while let next = bytes.byte(at: offset), next == 0x20 || next == 0x09 {
            offset += 1
            if offset - start > Self.paddingLimit { return .isNone }
        }
        guard let next = bytes.byte(at: offset) else {
            return !isWhole ? .needsMore : isLast ? .ends(offset, isLast: true) : .isNone
        }
        if next == Self.lf, lineEnd.count != 2 { return .ends(offset + 1, isLast: isLast) }
        guard next == Self.cr, lineEnd.count != 1 else { return .isNone }
        guard let feed = bytes.byte(at: offset + 1) else {
            return !isWhole ? .needsMore : isLast ? .ends(offset + 1, isLast: true) : .isNone
        }
        return feed == Self.lf ? .ends(offset + 2, isLast: isLast) : .isNone
    }
}

extension Span where Element == UInt8 {
    fileprivate func byte(at index: Int) -> UInt8? { index < count ? self[index] : nil }
}

/// RFC 2046, section 5.1, and RFC 5322, section 2.2.
enum PartHeaders {
    private static let fieldLimit = 100

    static func parse(_ bytes: Data, lineEnd: [UInt8]) throws -> HTTPHeaders {
        var lines: [[UInt8]] = []
        for var line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            if lineEnd.count == 2, line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if let first = line.first, ASCII.isBlank(first), var last = lines.popLast() {
                last.append(UInt8(ascii: " "))
                last += line.drop { ASCII.isBlank($0) }
                lines.append(last)
            } else {
                lines.append(Array(line))
            }
        }
        guard lines.count <= fieldLimit else {
            throw MultipartError(.limitExceeded, "a part has more than \(fieldLimit) headers")
        }
        var headers = HTTPHeaders()
        for line in lines {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            let name = HTTPHeaderName(String(decoding: line[..<colon], as: UTF8.self))
            let value = String(validating: line[colon...].dropFirst(), as: UTF8.self)
            guard colon < line.endIndex, name.isValid,
                line[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { throw MultipartError(.malformedPart, "a line in a part's headers isn't a valid name and value") }
            // Text that isn't UTF-8 is Latin-1, as in HTTP.
            let text = value ?? String(String.UnicodeScalarView(line[colon...].dropFirst().map { Unicode.Scalar($0) }))
            headers.add(name, String(ASCII.trimmed(text[...])))
        }
        return headers
    }
}
