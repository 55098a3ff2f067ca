/// The limits of a multipart body that is read; a body beyond them throws ``MultipartError/Code/limitExceeded``. The
/// bytes of a part are a stream, and its reader decides how many it accepts.
///
/// ```swift
/// let parts = try response.parts(limits: MultipartLimits(maximumParts: 100))
/// ```
public struct MultipartLimits: Sendable, Hashable {
    /// The maximum number of parts; 10,000 by default.
    public var maximumParts: Int
    /// The maximum number of bytes of one part's headers; 16 KiB by default.
    public var maximumHeaderBytes: Int
    /// The maximum number of bytes before the first part; 64 KiB by default.
    public var maximumPreambleBytes: Int

    /// Makes limits; the defaults are those of the properties.
    public init(maximumParts: Int = 10_000, maximumHeaderBytes: Int = 16 << 10, maximumPreambleBytes: Int = 64 << 10) {
        (self.maximumParts, self.maximumHeaderBytes, self.maximumPreambleBytes) = (
            maximumParts, maximumHeaderBytes, maximumPreambleBytes
        )
    }
}
