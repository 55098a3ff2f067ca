import ErrandEssentials
import ErrandSupport

/// What tells one body from another without reading all of it: length, time of the last change, and a digest of its head, its
/// tail and samples between them.
struct SourceFingerprint: Codable, Sendable, Hashable {
    var size: Int64
    /// In nanoseconds since 1970; nil for a body that is no file.
    var modified: Int64?
    var digest: String

    /// The parts that are read: all of a short body.
    static func samples(of size: Int64) -> [Range<Int64>] {
        if size <= 256 << 10 { return size > 0 ? [0..<size] : [] }
        let edge: Int64 = 64 << 10
        let (sample, count) = (Int64(4 << 10), Int64(16))
        let middle = (1...count).map { index in
            // Divided first: the product of two large numbers could overflow.
            let start = edge + (size - 2 * edge - sample) / (count + 1) * index
            return start..<(start + sample)
        }
        return [0..<edge] + middle + [(size - edge)..<size]
    }
}
