import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The headers of a part, read from their lines (RFC 2046, section 5.1; RFC 5322, section 2.2).
enum PartHeaders {
    private static let fieldLimit = 100

    static func parse(_ bytes: Data, lineEnd: [UInt8]) throws -> HTTPHeaders {
        var lines: [[UInt8]] = []
        for var line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            if lineEnd.count == 2, line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            // A folded line continues the one before it.
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
            else { throw MultipartError(.malformedPart, "a line in the headers of a part is no header") }
            // Text that is not UTF-8 is Latin-1, as in HTTP.
            let text = value ?? String(String.UnicodeScalarView(line[colon...].dropFirst().map { Unicode.Scalar($0) }))
            headers.add(name, String(ASCII.trimmed(text[...])))
        }
        return headers
    }
}
