import Errand
import ErrandContentCodings
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandRedaction
import ErrandSupport

struct ReplayBody: Sendable {
    private enum Content: Sendable {
        case json(JSONTree)
        case form([String])
        case multipart([ReplayPart])
        case bytes
    }

    /// The size in bytes above which a body isn't parsed, but compared as bytes. This doesn't apply to multipart
    /// bodies.
    private static let treeLimit = 4 << 20

    private let bytes: [UInt8]
    private let content: Content

    init(_ bytes: [UInt8], of request: HTTPRequest) {
        self.init(
            bytes, contentType: request.headers[.contentType] ?? request.body.contentType,
            contentCoding: request.headers[.contentEncoding])
    }

    /// - Parameters:
    ///   - contentCoding: The body's content coding. It's nil if the recording program has decoded the body.
    ///   - depth: The number of multipart bodies that enclose this body.
    init(_ bytes: [UInt8], contentType: String?, contentCoding: String? = nil, depth: Int = 0) {
        let bytes = contentCoding.flatMap { ContentCodings.decoded(bytes, $0, upTo: ReplayTable.bodyLimit) } ?? bytes
        self.bytes = bytes
        let essence = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        if essence.hasPrefix("multipart/"), depth < 4, let type = contentType.flatMap({ MediaType(parsing: $0) }),
            let parts = ReplayPart.parts(of: bytes, boundary: type.parameters["boundary"] ?? "", depth: depth)
        {
            content = .multipart(parts)
        } else if bytes.count > Self.treeLimit {
            content = .bytes
        } else if essence == "application/x-www-form-urlencoded" || essence.isEmpty && Self.looksLikeForm(bytes) {
            content = .form(QueryItem.split(String(decoding: bytes, as: UTF8.self)).map { Self.text(of: $0) })
        } else {
            content = JSONTree(bytes).map(Content.json) ?? .bytes
        }
    }

    private static func looksLikeForm(_ bytes: [UInt8]) -> Bool {
        RedactedBody.looksLikeForm(bytes) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Creates a multipart body from its fields, because some recordings contain the fields instead of the body's text.
    init(parts: [HAREntry.Part]) {
        bytes = Array(parts.map(\.value).joined().utf8)
        content = .multipart(parts.map { ReplayPart($0) })
    }

    private static func text(of item: QueryItem) -> String {
        let name = item.name.replacing("%", with: "%25").replacing("=", with: "%3D")
        return item.value.map { "\(name)=\($0)" } ?? name
    }

    /// A digest of the body. Bodies that are equal by value have equal digests.
    var key: String {
        var text = ""
        switch content {
        case .json(let tree): tree.write(into: &text)
        case .form(let items): text = items.map(\.debugDescription).joined(separator: "&")
        case .multipart(let parts):
            text = parts.map { "\($0.head.debugDescription) \($0.body.key)" }.joined(separator: "&")
        case .bytes: return Hexadecimal.text(SHA256Digest.digest(of: bytes))
        }
        return Hexadecimal.text(SHA256Digest.digest(of: Array(text.utf8)))
    }

    var hasMask: Bool { bytes.firstRange(of: Array(Redaction.mask.utf8)) != nil }

    func difference(from other: ReplayBody) -> String? {
        switch (content, other.content) {
        case (.json(let mine), .json(let its)):
            return mine.difference(from: its).map { "the value at \($0.isEmpty ? "the root" : String($0.prefix(200)))" }
        case (.form(let mine), .form(let its)):
            if mine.count != its.count { return "recorded \(mine.count) items, requested \(its.count)" }
            let index = zip(mine, its).enumerated().first { !MaskedText.matches($1.0, $1.1) }?.offset
            return index.map { "the item at index \($0)" }
        case (.multipart(let mine), .multipart(let its)):
            if mine.count != its.count { return "recorded \(mine.count) parts, requested \(its.count)" }
            for (index, pair) in zip(mine, its).enumerated() {
                if !MaskedText.matches(pair.0.head, pair.1.head) { return "the fields of the part at index \(index)" }
                if let difference = pair.0.body.difference(from: pair.1.body) {
                    return "the part at index \(index): \(difference)"
                }
            }
            return nil
        default:
            if MaskedText.matches(bytes, other.bytes) { return nil }
            let offset = zip(bytes, other.bytes).enumerated().first { $1.0 != $1.1 }?.offset
            let different = offset ?? min(bytes.count, other.bytes.count)
            return "recorded \(bytes.count) bytes, requested \(other.bytes.count), different from byte \(different) on"
        }
    }
}

/// A part of a multipart body (RFC 2046, section 5.1; RFC 7578). It leaves out details that vary between senders.
struct ReplayPart: Sendable {
    let head: String
    let body: ReplayBody

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
            guard let first = line.first else { break }
            let text = String(decoding: line, as: UTF8.self)
            // A folded line continues the field (RFC 5322, section 2.2.3).
            if ASCII.isBlank(first), let last = fields.indices.last {
                fields[last].value += " " + ASCII.trimmed(text[...])
                continue
            }
            let name = text.prefix { $0 != ":" }
            let value = String(ASCII.trimmed(text[name.endIndex...].dropFirst()))
            fields.append((ASCII.trimmed(name).lowercased(), value))
        }
        func value(_ name: String) -> String? { fields.last { $0.name == name }?.value }
        let type = value("content-type")
        // These fields are compared in another way, or only describe how the content is sent.
        let ignored = ["content-disposition", "content-type", "content-length", "content-transfer-encoding"]
        let others = fields.filter { !ignored.contains($0.name) }.map { "\($0.name): \($0.value)" }
        head = Self.head(
            value("content-disposition").map { ContentDisposition(parsing: $0) }, type: type, others: others)
        body = ReplayBody(Array(rest), contentType: type, depth: depth + 1)
    }

    private static func head(_ disposition: ContentDisposition?, type: String?, others: [String]) -> String {
        let name = disposition?.parameters["name"] ?? ""
        let file = disposition?.fileName ?? disposition?.parameters["filename"]
        // The default type of a part (RFC 7578, section 4.4).
        let essence = type.flatMap { MediaType.essence(of: $0) } ?? "text/plain"
        let fields = [disposition?.type ?? "", name, file ?? "", essence] + others.sorted()
        return fields.map(\.debugDescription).joined(separator: " ") + (file == nil ? "" : " file")
    }

    static func parts(of bytes: [UInt8], boundary: String, depth: Int) -> [ReplayPart]? {
        guard !boundary.isEmpty else { return nil }
        // The pattern includes the line break, because a delimiter is at the start of a line.
        let delimiter = BytePattern(Array("\n--\(boundary)".utf8))
        let text = [UInt8(ascii: "\n")] + bytes
        var (rest, parts, start) = (text[...], [ReplayPart](), Int?.none)
        while let found = delimiter.firstMatch(in: rest) {
            let line = text[found.upperBound...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let isLast = text[found.upperBound..<line].starts(with: "--".utf8)
            guard text[(found.upperBound + (isLast ? 2 : 0))..<line].allSatisfy({ $0 <= 0x20 }) else {
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
            // The line break isn't consumed, because it may be the beginning of the next delimiter.
            (rest, start) = (text[line...], line + 1)
        }
        return nil
    }
}
