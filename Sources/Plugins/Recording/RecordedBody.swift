import Errand
public import ErrandEssentials
import ErrandRedaction

/// A bounded copy of a body: its bytes, with only the values of secrets replaced.
public struct RecordedBody: Sendable, Hashable {
    /// The copy; empty for a body that is empty, that was not copied, or that is left out.
    public var data: Data
    /// The number of bytes of the body that the copy represents. Its own size differs from that where secrets are
    /// masked.
    public var copiedBytes: Int
    /// The size of the whole body in bytes, as far as it is known.
    public var length: Int64?
    /// The `Content-Type`.
    public var contentType: String?
    /// The reason why the copy is left out, in words; nil if it is not.
    public var omission: String?

    /// Makes a body; complete unless a greater length says otherwise.
    public init(
        _ data: Data = Data(), length: Int64? = nil, contentType: String? = nil, copiedBytes: Int? = nil,
        omission: String? = nil
    ) {
        (self.data, self.contentType, self.omission) = (data, contentType, omission)
        self.copiedBytes = copiedBytes ?? data.count
        self.length = length ?? (data.isEmpty ? nil : Int64(data.count))
    }

    /// Whether the body has more bytes than the copy represents.
    public var isTruncated: Bool { (length ?? 0) > Int64(copiedBytes) }

    /// The copy as text; nil if it is not UTF-8. A copy that is truncated within a character ends before it.
    public var text: String? {
        if data.contains(0) { return nil }
        if let text = String(validating: data, as: UTF8.self) { return text }
        guard isTruncated else { return nil }
        for count in 1...3 where data.count > count {
            if data[data.endIndex - count] & 0xC0 == 0x80 { continue }
            return String(validating: data.dropLast(count), as: UTF8.self)
        }
        return nil
    }
}

extension RecordedBody {
    /// The copy of a body with those secrets masked whose names it contains. Secrets from other parts are masked later.
    ///
    /// - Parameters:
    ///   - coding: the `Content-Encoding` of the bytes.
    ///   - redactor: remembers the masked secrets.
    init(
        redacting data: Data, _ contentType: String?, coding: String?, length: Int64?, _ redactor: inout Redactor
    ) {
        self.init(Data(), length: length, contentType: contentType, copiedBytes: data.count)
        switch redactor.body(data, contentType: contentType, contentCoding: coding) {
        case .shown(let bytes): self.data = bytes
        case .omitted(let reason): omission = "left out: \(reason)"
        }
    }

    mutating func mask(_ redactor: Redactor) { data = redactor.masking(data) }
}
