import ErrandEssentials
import ErrandSupport

/// Finds the lines that separate parts (RFC 2046, section 5.1.1): `--boundary`, blanks, the end of the line. A line
/// that begins like one and continues is content.
struct BoundaryScanner {
    enum Found {
        /// The content before it ends at `start`; the line ends at `end`. The last one has `--` behind the boundary.
        case boundary(start: Int, end: Int, isLast: Bool)
        /// None so far; the first `safe` bytes belong to no boundary.
        case none(safe: Int)
    }

    private enum Line {
        case ends(Int, isLast: Bool)
        case isNone
        case needsMore
    }

    /// The maximum number of blanks behind a boundary.
    private static let paddingLimit = 256
    private static let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
    private let delimiter: [UInt8]
    /// The delimiter with the line feed before it.
    private let separator: [UInt8]
    /// The line end of the body; known once the first boundary was found.
    private(set) var lineEnd: [UInt8] = []
    /// Whether the bytes begin at the start of a line, so that a boundary may begin there.
    var isAtLineStart = true

    init(_ boundary: String) {
        delimiter = Array(("--" + boundary).utf8)
        separator = [Self.lf] + delimiter
    }

    /// - Parameter isWhole: whether no more bytes follow.
    mutating func find(in data: Data, isWhole: Bool) -> Found {
        let (found, lineEnd) = search(data.span, isWhole)
        if let lineEnd, self.lineEnd.isEmpty { self.lineEnd = lineEnd }
        return found
    }

    private func search(_ bytes: Span<UInt8>, _ isWhole: Bool) -> (Found, [UInt8]?) {
        if isAtLineStart {
            if bytes.contains(delimiter) {
                if let result = judge(bytes, contentEnd: 0, behind: delimiter.count, isWhole) { return result }
            } else if bytes.count < delimiter.count, !isWhole, delimiter.starts(with: [UInt8](copying: bytes)) {
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
        // A carriage return and the beginning of a separator may stand at the end.
        return (.none(safe: isWhole ? bytes.count : max(0, bytes.count - separator.count)), nil)
    }

    /// The kind of the line that a delimiter begins; nil if the line is content.
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
        guard let feed = bytes.byte(at: offset + 1) else { return isWhole ? .isNone : .needsMore }
        return feed == Self.lf ? .ends(offset + 2, isLast: isLast) : .isNone
    }
}

extension Span where Element == UInt8 {
    /// Nil behind the last byte.
    fileprivate func byte(at index: Int) -> UInt8? { index < count ? self[index] : nil }
}
