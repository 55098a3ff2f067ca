import ErrandSupport

/// Inserts text into a path as a single segment.
///
/// Servers and clients resolve `.` and `..` even if they're percent-encoded. If a value could become `.` or `..`, alone
/// or with adjacent text, ``encode(_:)`` encloses it in two private-use characters, which are invalid in a URL.
/// ``resolve(_:)`` removes them or rejects the path.
public enum PathSegment {
    private static let open: Unicode.Scalar = "\u{E0F1}"
    private static let close: Unicode.Scalar = "\u{E0F2}"

    /// Returns the text percent-encoded. If the text must be checked together with the text around it, the result is
    /// enclosed in private-use characters.
    public static func encode(_ text: String) -> String {
        var result = ""
        PercentEncoding.encode(text, into: &result, allowed: ASCII.isUnreserved)
        guard canLeave(text) else { return result }
        return "\(open)\(result)\(close)"
    }

    /// Checks the segments that ``encode(_:)`` marked in a path, and removes the private-use characters.
    ///
    /// Throws if a marked segment would change the path's structure. This is the case if the segment is empty, or if
    /// `.` or `..` is one of its parts between slashes or backslashes, encoded or not.
    public static func resolve(_ path: String) throws(URLSyntax.Fault) -> String {
        // The two characters begin with the byte 0xEE. Other characters that begin with it are invalid in a path.
        guard path.withSpan({ $0.contains(0xEE) }) else { return path }
        let end = path.unicodeScalars.firstIndex { $0 == "?" || $0 == "#" } ?? path.endIndex
        for segment in path[..<end].unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            guard segment.contains(open) else { continue }
            let text = String(String.UnicodeScalarView(segment.filter { $0 != open && $0 != close }))
            if text.isEmpty {
                throw URLSyntax.Fault(description: "a segment inserted into the path is empty")
            }
            if hasDots(text) {
                throw URLSyntax.Fault(
                    description: "a segment inserted into the path is . or .., which would change the path")
            }
        }
        var (result, isMarked) = (String.UnicodeScalarView(), false)
        for scalar in path.unicodeScalars {
            // Remove only pairs, as `encode` adds them. Later checks reject the remaining private-use characters.
            if scalar == (isMarked ? close : open) { isMarked.toggle() } else { result.append(scalar) }
        }
        return isMarked ? path : String(result)
    }

    /// Returns whether the text could lead to another path, alone or with adjacent text. Empty text and dots alone
    /// count, because adjacent text can turn them into `.` or `..`.
    private static func canLeave(_ text: String) -> Bool {
        decoded(text).allSatisfy { $0 == UInt8(ascii: ".") } || hasDots(text)
    }

    private static func hasDots(_ text: String) -> Bool {
        let bytes = decoded(text)
        return bytes.split(omittingEmptySubsequences: true) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.count <= 2 && $0.allSatisfy { $0 == UInt8(ascii: ".") } }
    }

    /// Returns a text with dots, slashes and backslashes decoded, even if they're encoded repeatedly, as in `%252E`.
    private static func decoded(_ text: String) -> [UInt8] {
        var (result, bytes) = ([UInt8](), Array(text.utf8)[...])
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            var rest = bytes
            while rest.starts(with: "25".utf8) { rest = rest.dropFirst(2) }
            switch String(decoding: rest.prefix(2), as: UTF8.self).lowercased() {
            case "2e": result.append(UInt8(ascii: "."))
            case "2f": result.append(UInt8(ascii: "/"))
            case "5c": result.append(UInt8(ascii: "\\"))
            default:
                result.append(byte)
                continue
            }
            bytes = rest.dropFirst(2)
        }
        return result
    }
}
