/// The value of a `traceparent` field (W3C Trace Context Level 2, section 3.2): a trace, a span within it, and flags.
///
/// ```swift
/// let parent = TraceParent(parsing: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
/// ```
public struct TraceParent: Sendable, Hashable, CustomStringConvertible {
    /// 32 lowercase hexadecimal digits, not all zero.
    public let traceID: String
    /// 16 lowercase hexadecimal digits, not all zero.
    public let parentID: String
    /// Whether the caller may have recorded the trace.
    public var isSampled: Bool
    /// Whether the last 14 digits of ``traceID`` are random, so services can use them for sampling.
    public let isRandom: Bool

    private init(traceID: String, parentID: String, isSampled: Bool, isRandom: Bool) {
        (self.traceID, self.parentID) = (traceID, parentID)
        (self.isSampled, self.isRandom) = (isSampled, isRandom)
    }

    /// Begins a trace with random digits.
    public init(isSampled: Bool) {
        let trace = Self.hexadecimal(UInt64.random(in: 0 ... .max)) + Self.hexadecimal(UInt64.random(in: 1 ... .max))
        self.init(traceID: trace, parentID: Self.spanID(), isSampled: isSampled, isRandom: true)
    }

    /// Parses a field. Returns nil for an invalid field: the standard requires ignoring it. For an unknown version,
    /// only the parts that version 00 defines are read.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
        let parts = [bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55]]
        guard parts.allSatisfy({ $0.allSatisfy(Self.isHexadecimal) }) else { return nil }
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        let isLong = bytes.count > 55
        if texts[0] == "ff" || (texts[0] == "00" && isLong) || (isLong && bytes[55] != dash) { return nil }
        guard texts[1].contains(where: { $0 != "0" }), texts[2].contains(where: { $0 != "0" }) else { return nil }
        let flags = UInt8(texts[3], radix: 16) ?? 0
        self.init(traceID: texts[1], parentID: texts[2], isSampled: flags & 1 != 0, isRandom: flags & 2 != 0)
    }

    /// Returns a new span of the same trace.
    public func child() -> TraceParent {
        TraceParent(traceID: traceID, parentID: Self.spanID(), isSampled: isSampled, isRandom: isRandom)
    }

    /// The field's value, in version 00, with only the flags that this type knows.
    public var description: String { "00-\(traceID)-\(parentID)-0\((isSampled ? 1 : 0) + (isRandom ? 2 : 0))" }

    private static func spanID() -> String { hexadecimal(UInt64.random(in: 1 ... .max)) }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
