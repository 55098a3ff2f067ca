import ErrandDigests
import ErrandEssentials

/// What a later run has to know of an unfinished upload.
struct UploadRecord: Codable, Sendable, Equatable {
    /// The version of this format; another one is not read.
    var format = Self.format
    /// A digest of what identifies the upload, so that no secret of the request's URL is on the disk.
    var request: String
    /// Whose the upload is; nil in records of earlier versions, which count as nobody's.
    var user: UserStamp?
    /// The request's URL for people to read, its query masked.
    var url: String
    /// The name of the file; nil for another body.
    var name: String?
    var source: SourceFingerprint
    var server: UploadServer
    /// Nil before the server has named one.
    var resource: UploadResource?
    /// Bytes that the server had when it was asked last, for people.
    var acknowledged: Int64 = 0
    /// The segments of a body that is sent in several; nil for one upload, whose place is `resource`.
    var segments: [UploadSegment]?
    /// True once the server was asked to join the segments: what it made of them may need them.
    var mayBeJoined: Bool?

    static let format = 1
    static let magic = Array("ErrandU1".utf8)

    /// The places of the upload, or of its segments.
    var places: [UploadResource] { resource.map { [$0] } ?? segments?.compactMap(\.resource) ?? [] }
}
