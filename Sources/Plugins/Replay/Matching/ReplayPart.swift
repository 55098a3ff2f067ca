import Errand
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// A part of a multipart body (RFC 2046, section 5.1; RFC 7578), in the form in which a replay compares it: whatever the
/// boundary is, and without what senders write in different ways.
struct ReplayPart: Sendable {
    /// The name, the file name and the media type, and the other fields.
    let head: String
    let body: ReplayBody

    /// More parts are compared as the bytes that they are.
    private static let maximumParts = 1_000

    init(_ part: HAREntry.Part) {
        var disposition = ContentDisposition("form-data", fileName: "")
        disposition.parameters = FieldParameters([.init("name", part.name, isQuoted: true)])
        if let name = part.fileName { disposition.parameters.all.append(.init("filename", name, isQuoted: true)) }
        head = Self.head(disposition, type: part.contentType, others: [])
        body = ReplayBody(Array(part.value.utf8), contentType: part.contentType, depth: 1)
    }

    private init(_ bytes: ArraySlice<UInt8>, depth: Int) {
        var (rest, fields) = (bytes, [(name: String, value: String)]())
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            var line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.isEmpty { break }
            let text = String(decoding: line, as: UTF8.self)
            let name = text.prefix { $0 != ":" }
            let value = String(ASCII.trimmed(text[name.endIndex...].dropFirst()))
            fields.append((ASCII.trimmed(name).lowercased(), value))
        }
        func value(_ name: String) -> String? { fields.last { $0.name == name }?.value }
        let type = value("content-type")
        // These describe how the content is sent, and not what it is.
        let ignored = ["content-disposition", "content-type", "content-length", "content-transfer-encoding"]
        let others = fields.filter { !ignored.contains($0.name) }.map { "\($0.name): \($0.value)" }
        head = Self.head(
            value("content-disposition").map { ContentDisposition(parsing: $0) }, type: type, others: others)
        body = ReplayBody(Array(rest), contentType: type, depth: depth + 1)
    }

    private static func head(_ disposition: ContentDisposition?, type: String?, others: [String]) -> String {
        let name = disposition?.parameters["name"] ?? ""
        let file = disposition?.fileName ?? disposition?.parameters["filename"]
        // The type of a part that says none (RFC 7578, section 4.4).
        let essence = type.flatMap { MediaType.essence(of: $0) } ?? "text/plain"
        let fields = [disposition?.type ?? "", name, file ?? "", essence] + others.sorted()
        return fields.map(\.debugDescription).joined(separator: " ") + (file == nil ? "" : " file")
    }

    /// The parts between the delimiters; nil for bytes that are no multipart body with this boundary.
    static func parts(of bytes: [UInt8], boundary: String, depth: Int) -> [ReplayPart]? {
        guard !boundary.isEmpty else { return nil }
        // A delimiter begins a line.
        let delimiter = BytePattern(Array("\n--\(boundary)".utf8))
        let text = [UInt8(ascii: "\n")] + bytes
        var (rest, parts, start) = (text[...], [ReplayPart](), Int?.none)
        while let found = delimiter.firstMatch(in: rest) {
            let line = text[found.upperBound...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let isLast = text[found.upperBound..<line].starts(with: "--".utf8)
            guard text[(found.upperBound + (isLast ? 2 : 0))..<line].allSatisfy({ $0 <= 0x20 }) else {
                // A line of the content that only begins like a delimiter.
                rest = text[found.upperBound...]
                continue
            }
            if let start {
                let isAfterReturn = found.lowerBound > start && text[found.lowerBound - 1] == UInt8(ascii: "\r")
                let end = isAfterReturn ? found.lowerBound - 1 : found.lowerBound
                guard parts.count < maximumParts else { return nil }
                parts.append(ReplayPart(text[start..<max(start, end)], depth: depth))
            }
            if isLast { return parts }
            guard line < text.endIndex else { return nil }
            // The line break behind a delimiter may be the one before the next.
            (rest, start) = (text[line...], line + 1)
        }
        return nil
    }
}
