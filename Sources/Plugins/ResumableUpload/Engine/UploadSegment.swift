import ErrandEssentials

/// A range of the body that is an upload of its own, until the server joins it with the others.
struct UploadSegment: Codable, Sendable, Equatable {
    var start: Int64
    /// After the last byte.
    var end: Int64
    /// Nil before the server has named one.
    var resource: UploadResource?
    /// Bytes that the server had when it was asked last, for people.
    var acknowledged: Int64 = 0

    var length: Int64 { end - start }

    /// The largest number of segments.
    static let limit = 16

    /// Segments of about the same length, as many as there may be; nil where there would be one only.
    ///
    /// - Parameter minimum: the fewest bytes of a segment.
    static func split(_ total: Int64, into count: Int, minimum: Int64) -> [UploadSegment]? {
        let count = min(Int64(min(count, limit)), total / max(1, minimum))
        guard count > 1 else { return nil }
        let (length, longer) = (total / count, total % count)
        return (0..<count).map { index in
            let start = index * length + min(index, longer)
            return UploadSegment(start: start, end: start + length + (index < longer ? 1 : 0))
        }
    }

    /// Whether segments that were read from a disk are those of a body: adjacent, from its first byte to its last.
    static func areWhole(_ segments: [UploadSegment], of total: Int64?) -> Bool {
        guard 2...limit ~= segments.count, segments.last?.end == total else { return false }
        var expected: Int64 = 0
        for segment in segments {
            guard segment.start == expected, segment.end > segment.start, segment.end <= 1 << 60,
                0...segment.length ~= segment.acknowledged
            else { return false }
            expected = segment.end
        }
        return true
    }
}
