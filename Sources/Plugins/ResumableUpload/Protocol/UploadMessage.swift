import Errand

struct UploadMessage: Sendable, Equatable {
    var method: HTTPMethod
    var headers: HTTPHeaders
    var part: UploadPart?
}

struct UploadPart: Sendable, Equatable {
    var offset: Int64
    /// The number of bytes. It's nil if the body's length is unknown.
    var count: Int64?
    var isLast: Bool

    var end: Int64? { count.map { offset + $0 } }

    init(at offset: Int64, of total: Int64?, within limits: UploadLimits, upTo maximum: Int64?) {
        self.offset = offset
        guard let total else {
            (count, isLast) = (nil, true)
            return
        }
        let most = min(maximum ?? .max, limits.maximumRequestBytes ?? .max)
        let size = max(most, limits.minimumRequestBytes ?? 1, 1)
        let rest = max(0, total - offset)
        (count, isLast) = (min(rest, size), rest <= size)
    }

    /// Removes bytes from the part. Another request then has to complete the upload.
    mutating func holdBack(_ held: UploadPlan.HeldBack) {
        guard isLast, held != .nothing else { return }
        // If the body's length is unknown, the position of its last byte is unknown too, so the part stays empty.
        (count, isLast) = (held == .lastByte ? count.map { max(0, $0 - 1) } ?? 0 : 0, false)
    }
}

enum UploadVerdict: Sendable, Equatable {
    case complete
    /// The server has the bytes before this offset. It's nil if the server has to be asked.
    case has(Int64?)
    /// The server has lost the upload's bytes, or the bytes are useless.
    case gone(String)
    case damaged(String)
    /// The server refused the request. The retry policy decides whether to repeat the request. If it isn't repeated,
    /// the core checks the response.
    case refused
    case unusable(String)
}

/// A protocol for resumable uploads. A dialect builds its requests and interprets its responses.
protocol UploadDialect: Sendable {
    /// Returns the request that creates the upload. `method` is the method of the user's request. `digest` is the
    /// SHA-256 of the whole body, if the digest should be sent.
    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage
    func inquiry() -> UploadMessage
    /// Returns the request that sends a part. `digest` is the part's SHA-256, if the digest should be sent.
    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage
    func termination() -> UploadMessage

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict
    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict
    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict
    func namesUpload(_ response: HTTPResponse) -> Bool
}

struct UploadPlan: Sendable, Equatable {
    /// The length of the body. It's nil if the length is unknown.
    var total: Int64?
    var maximumRequestBytes: Int64?
    var metadata: [String: String] = [:]
    /// Whether to create the upload with an empty request. This helps if the server's 104 responses don't arrive,
    /// because the final response to an empty request contains the upload's URL.
    var beginsEmpty = false
    /// The bytes that are excluded from the creating request. If the response to this request is lost, a repeated
    /// request creates a second upload. The first upload must therefore not become complete.
    enum HeldBack: Sendable { case nothing, lastByte, everything }

    var heldBack = HeldBack.nothing
    var isSegment = false
    var server: UploadServer

    func part(at offset: Int64) -> UploadPart {
        UploadPart(at: offset, of: total, within: server.limits, upTo: maximumRequestBytes)
    }
}
