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
        case bytes
    }

    /// A body of more bytes is compared byte by byte, whatever its type is.
    private static let treeLimit = 4 << 20

    private let bytes: [UInt8]
    private let content: Content

    init(_ bytes: [UInt8], contentType: String?) {
        self.bytes = bytes
        let isForm = contentType.flatMap { MediaType.essence(of: $0) } == "application/x-www-form-urlencoded"
        if bytes.count > Self.treeLimit {
            content = .bytes
        } else if isForm {
            content = .form(QueryItem.split(String(decoding: bytes, as: UTF8.self)).map { Self.text(of: $0) })
        } else {
            content = JSONTree(bytes).map(Content.json) ?? .bytes
        }
    }

    private static func text(of item: QueryItem) -> String { item.value.map { "\(item.name)=\($0)" } ?? item.name }

    /// A digest, equal for equal bodies.
    var key: String {
        var text = ""
        switch content {
        case .json(let tree): tree.write(into: &text)
        case .form(let items): text = items.map(\.debugDescription).joined(separator: "&")
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
        default:
            if MaskedText.matches(bytes, other.bytes) { return nil }
            let offset = zip(bytes, other.bytes).enumerated().first { $1.0 != $1.1 }?.offset
            let different = offset ?? min(bytes.count, other.bytes.count)
            return "recorded \(bytes.count) bytes, requested \(other.bytes.count), different from byte \(different) on"
        }
    }
}
