/// What is accepted of a multipart body that is read; more throws ``MultipartError/Code/limitExceeded``. The bytes of a part
/// are a stream, whose reader says how many it takes.
///
/// ```swift
/// let parts = try response.parts(limits: MultipartLimits(parts: 100))
/// ```
public struct MultipartLimits: Sendable, Hashable {
    /// The most parts; 10,000 by default.
    public var parts: Int
    /// The most bytes of one part's headers; 16 KiB by default.
    public var headerBytes: Int
    /// The most bytes before the first part; 64 KiB by default.
    public var preambleBytes: Int

    /// Limits with those defaults.
    public init(parts: Int = 10_000, headerBytes: Int = 16 << 10, preambleBytes: Int = 64 << 10) {
        (self.parts, self.headerBytes, self.preambleBytes) = (parts, headerBytes, preambleBytes)
    }
}
