public import Errand
public import ErrandEssentials
import ErrandRedaction

/// A bounded copy of a body, with secrets masked.
public struct RecordedBody: Sendable, Hashable {
    /// The copy. Empty if the body is empty, wasn't copied or was left out.
    public var data: Data
    /// The number of the body's bytes that the copy represents. Masked secrets make the copy's own size differ.
    public var copiedBytes: Int
    /// The size of the whole body in bytes, if known.
    public var length: Int64?
    /// The body's `Content-Type`, or `nil` if it isn't known.
    public var contentType: String?
    /// Why the copy was left out, in words, or `nil` if it wasn't.
    public var omission: String?

    /// Creates a body. It counts as complete unless `length` is greater.
    public init(
        _ data: Data = Data(), length: Int64? = nil, contentType: String? = nil, copiedBytes: Int? = nil,
        omission: String? = nil
    ) {
        (self.data, self.contentType, self.omission) = (data, contentType, omission)
        self.copiedBytes = copiedBytes ?? data.count
        self.length = length ?? (data.isEmpty ? nil : Int64(data.count))
    }

    /// Whether the copy represents only the start of the body.
    public var isTruncated: Bool { (length ?? 0) > Int64(copiedBytes) }

    /// The copy as text, or `nil` if it isn't UTF-8. If the copy was cut within a character, the text ends before that
    /// character.
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
    /// Creates a copy to keep from bytes with secrets, and masks secrets that have names in it. Afterwards,
    /// ``mask(_:)`` masks secrets known from other parts of the exchange.
    ///
    /// ```swift
    /// var redactor = Redactor()
    /// var body = RecordedBody(masking: response.data, contentType: response.headers[.contentType], by: &redactor)
    /// body.mask(redactor)
    /// ```
    ///
    /// - Parameters:
    ///   - data: the body, or its start.
    ///   - contentType: the `Content-Type` of the body. Defaults to `nil`, which guesses it.
    ///   - contentCoding: the `Content-Encoding` of the bytes. Defaults to `nil`.
    ///   - length: the size of the whole body in bytes. Defaults to the size of the copy.
    ///   - redactor: remembers the masked secrets.
    public init(
        masking data: Data, contentType: String? = nil, contentCoding: String? = nil, length: Int64? = nil,
        by redactor: inout Redactor
    ) {
        let known = length ?? (data.isEmpty ? nil : Int64(data.count))
        self.init(redacting: data, contentType, coding: contentCoding, length: known, &redactor)
    }

    /// Creates a copy and masks secrets that have names in it. Secrets known from other parts are masked later.
    ///
    /// - Parameters:
    ///   - coding: the `Content-Encoding` of the bytes.
    ///   - redactor: remembers the masked secrets.
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
