import CErrandCodings

/// A content coding for request bodies, with its level.
///
/// ```swift
/// let fast: ContentCompression = .zstd(level: 1)
/// let standard: ContentCompression = .gzip
/// ```
public struct ContentCompression: Sendable, Hashable, CustomStringConvertible {
    enum Coding: Sendable, Hashable {
        case gzip, zstd

        var bit: Int32 {
            switch self {
            case .gzip: Int32(ERRAND_CODING_GZIP)
            case .zstd: Int32(ERRAND_CODING_ZSTD)
            }
        }
    }

    let coding: Coding
    let level: Int32

    /// gzip (RFC 9110, section 8.4.1.3) with zlib's level 6. Nearly every server that supports any coding supports
    /// gzip.
    public static let gzip = gzip(level: 6)
    /// zstd (RFC 8878) with level 3. Smaller than gzip in a fraction of the time, for servers that support it.
    public static let zstd = zstd(level: 3)

    /// gzip with a level from 1, the fastest, to 9. Other levels are clamped.
    public static func gzip(level: Int) -> Self { Self(coding: .gzip, level: Int32(min(max(level, 1), 9))) }

    /// zstd with a level from 1, the fastest, to 19. Other levels are clamped. Decoding needs at most 8 MiB (RFC 9659).
    public static func zstd(level: Int) -> Self { Self(coding: .zstd, level: Int32(min(max(level, 1), 19))) }

    /// Whether the system has the coding's library. zlib is on every Apple platform and nearly every Linux system,
    /// libzstd on most Linux systems.
    public var isAvailable: Bool {
        #if os(Linux) || os(Android) || canImport(Darwin)
        errand_encodings() & coding.bit != 0
        #else
        false
        #endif
    }

    /// The coding's name in `Content-Encoding`.
    public var description: String {
        switch coding {
        case .gzip: "gzip"
        case .zstd: "zstd"
        }
    }
}
