/// Limits for reading a multipart body. A body that exceeds them throws ``MultipartError/Code/limitExceeded``. They
/// don't limit a part's content: its reader decides how many bytes to accept.
///
/// ```swift
/// let parts = try response.parts(limits: MultipartLimits(maximumParts: 100))
/// ```
public struct MultipartLimits: Sendable, Hashable {
    /// The maximum number of parts. Defaults to 10,000.
    public var maximumParts: Int
    /// The maximum size of a part's headers in bytes. Defaults to 16 KiB.
    public var maximumHeaderBytes: Int
    /// The maximum number of bytes before the first part. Defaults to 64 KiB.
    public var maximumPreambleBytes: Int

    /// Creates limits.
    public init(maximumParts: Int = 10_000, maximumHeaderBytes: Int = 16 << 10, maximumPreambleBytes: Int = 64 << 10) {
        (self.maximumParts, self.maximumHeaderBytes, self.maximumPreambleBytes) = (
            maximumParts, maximumHeaderBytes, maximumPreambleBytes
        )
    }
}
