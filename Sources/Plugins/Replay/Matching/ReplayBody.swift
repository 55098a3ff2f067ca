import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// The body of a request in the form in which a replay compares it.
struct ReplayBody: Sendable {
    private enum Content: Sendable {
        case json(JSONTree)
        case form([String])
        case multipart([ReplayPart])
        case bytes
    }

    /// A body of more bytes is compared byte by byte, whatever its type is.
    private static let treeLimit = 4 << 20

    private let bytes: [UInt8]
    private let content: Content

    /// The body of a request.
    init(_ bytes: [UInt8], of request: HTTPRequest) {
        self.init(
            bytes, contentType: request.headers[.contentType] ?? request.body.contentType,
            contentCoding: request.headers[.contentEncoding])
    }

    /// - Parameters:
    ///   - contentCoding: the `Content-Encoding` of the bytes, unless the program that recorded them has undone it.
    ///   - depth: how many multipart bodies are around it.
    init(_ bytes: [UInt8], contentType: String?, contentCoding: String? = nil, depth: Int = 0) {
        let bytes = contentCoding.flatMap { RequestCoding.decoded(bytes, $0, upTo: ReplayTable.bodyLimit) } ?? bytes
        self.bytes = bytes
        let essence = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        if essence.hasPrefix("multipart/"), depth < 4, let type = contentType.flatMap({ MediaType(parsing: $0) }),
            let parts = ReplayPart.parts(of: bytes, boundary: type.parameters["boundary"] ?? "", depth: depth)
        {
            content = .multipart(parts)
        } else if bytes.count > Self.treeLimit {
            content = .bytes
        } else if essence == "application/x-www-form-urlencoded" {
            content = .form(QueryItem.split(String(decoding: bytes, as: UTF8.self)).map { Self.text(of: $0) })
        } else {
            content = JSONTree(bytes).map(Content.json) ?? .bytes
        }
    }

    /// A multipart body of which a recording has the fields in place of the text.
    init(parts: [HAREntry.Part]) {
        // Its masks are those of the values.
        bytes = Array(parts.map(\.value).joined().utf8)
        content = .multipart(parts.map { ReplayPart($0) })
    }

    private static func text(of item: QueryItem) -> String {
        let name = item.name.replacing("%", with: "%25").replacing("=", with: "%3D")
        return item.value.map { "\(name)=\($0)" } ?? name
    }

    /// A digest, equal for equal bodies.
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

    /// The difference of another body from this one, in which masks match anything; nil for none.
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
