public import Errand
public import ErrandEssentials
import ErrandRedaction

/// A copy of a body, or of its start, with secrets masked.
public struct RecordedBody: Sendable, Hashable {
    /// The copy. Empty if the body is empty or wasn't copied.
    public var data: Data
    /// The number of the body's bytes in the copy. The size of ``data`` differs if secrets are masked.
    public var copiedBytes: Int
    /// The size of the whole body in bytes, if known.
    public var length: Int64?
    /// The body's `Content-Type`, if known.
    public var contentType: String?
    /// Why the copy was left out. Nil if it wasn't.
    public var omission: String?

    /// Creates a body. It's complete unless `length` exceeds the number of copied bytes.
    public init(
        _ data: Data = Data(), length: Int64? = nil, contentType: String? = nil, copiedBytes: Int? = nil,
        omission: String? = nil
    ) {
        (self.data, self.contentType, self.omission) = (data, contentType, omission)
        self.copiedBytes = copiedBytes ?? data.count
        self.length = length ?? (data.isEmpty ? nil : Int64(data.count))
    }

    /// Whether the copy contains only the body's start.
    public var isTruncated: Bool { (length ?? 0) > Int64(copiedBytes) }

    /// The copy as text, or nil if it isn't UTF-8. Leaves out a character that was cut at the end.
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
    /// Copies a body and masks the values of members and items with secret names, such as `password`. Call ``mask(_:)``
    /// afterwards, to mask secrets known from other parts of the exchange.
    ///
    /// ```swift
    /// var redactor = Redactor()
    /// var body = RecordedBody(masking: response.data, contentType: response.headers[.contentType], by: &redactor)
    /// body.mask(redactor)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The body, or its start.
    ///   - contentType: The body's `Content-Type`. If it's nil, the default, the type is guessed.
    ///   - contentCoding: The bytes' `Content-Encoding`. Defaults to nil.
    ///   - length: The whole body's size in bytes. Defaults to the copy's size.
    ///   - redactor: Remembers the masked secrets.
    public init(
        masking data: Data, contentType: String? = nil, contentCoding: String? = nil, length: Int64? = nil,
        by redactor: inout Redactor
    ) {
        let known = length ?? (data.isEmpty ? nil : Int64(data.count))
        self.init(redacting: data, contentType, coding: contentCoding, length: known, &redactor)
    }

    init(
        redacting data: Data, _ contentType: String?, coding: String?, length: Int64?, _ redactor: inout Redactor
    ) {
        var (shown, omission): (Data, String?) = (Data(), nil)
        switch redactor.body(data, contentType: contentType, contentCoding: coding) {
        case .shown(let bytes): shown = bytes
        case .omitted(let reason): omission = "left out: \(reason)"
        }
        (self.data, self.length, self.contentType) = (shown, length, contentType)
        (copiedBytes, self.omission) = (data.count, omission)
    }

    /// Masks the secrets that a redactor remembers.
    public mutating func mask(_ redactor: Redactor) { data = redactor.masking(data) }
}
