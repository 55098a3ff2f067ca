public import Errand
public import ErrandEssentials
import ErrandRedaction

/// A copy of a body or of its beginning. Secrets are masked.
public struct RecordedBody: Sendable, Hashable {
    /// The copied bytes. They're empty if the body is empty or wasn't copied.
    public var data: Data
    /// The number of bytes that were copied from the body. ``data`` can have another size, because secrets in it are
    /// masked.
    public var copiedBytes: Int
    /// The size of the whole body in bytes. It's nil if the size is unknown.
    public var length: Int64?
    /// The body's `Content-Type`. It's nil if the type is unknown.
    public var contentType: String?
    /// The reason why the body wasn't copied. It's nil if the body was copied.
    public var omission: String?

    /// Creates a body. The copy counts as complete unless `length` is greater than the number of copied bytes.
    public init(
        _ data: Data = Data(), length: Int64? = nil, contentType: String? = nil, copiedBytes: Int? = nil,
        omission: String? = nil
    ) {
        (self.data, self.contentType, self.omission) = (data, contentType, omission)
        self.copiedBytes = copiedBytes ?? data.count
        self.length = length ?? (data.isEmpty ? nil : Int64(data.count))
    }

    /// Whether the copy contains only the beginning of the body.
    public var isTruncated: Bool { (length ?? 0) > Int64(copiedBytes) }

    /// The copy as text, or nil if it isn't UTF-8. If the copy ends within a character, this character is left out.
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
    /// Creates a masked copy of a body. Masks the values of members and items whose names are secret, such as
    /// `password`. Call ``mask(_:)`` afterwards, to mask secrets that are known from other parts of the exchange too.
    ///
    /// ```swift
    /// var redactor = Redactor()
    /// var body = RecordedBody(masking: response.data, contentType: response.headers[.contentType], by: &redactor)
    /// body.mask(redactor)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The body, or its beginning.
    ///   - contentType: The body's `Content-Type`. Defaults to nil: the type is guessed.
    ///   - contentCoding: The `Content-Encoding` of the bytes. Defaults to nil.
    ///   - length: The size of the whole body in bytes. Defaults to the size of the copy.
    ///   - redactor: Masks the secrets, and remembers them.
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

    /// Masks the secrets that a redactor has remembered.
    public mutating func mask(_ redactor: Redactor) { data = redactor.masking(data) }
}
