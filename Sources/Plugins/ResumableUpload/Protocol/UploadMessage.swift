import Errand

struct UploadMessage: Sendable, Equatable {
    var method: HTTPMethod
    var headers: HTTPHeaders
    var part: UploadPart?
}

struct UploadPart: Sendable, Equatable {
    var offset: Int64
    /// Nil if the body's length is unknown.
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

    /// Another request then has to complete the upload.
    mutating func holdBack(_ held: UploadPlan.HeldBack) {
        guard isLast, held != .nothing else { return }
        // If the body's length is unknown, its last byte is unknown too, so the part stays empty.
        (count, isLast) = (held == .lastByte ? count.map { max(0, $0 - 1) } ?? 0 : 0, false)
    }
}

enum UploadVerdict: Sendable, Equatable {
    case complete
    /// The end of the bytes that the server has. Nil if it has to be asked.
    case has(Int64?)
    /// The server has lost its bytes, or they're useless.
    case gone(String)
    case damaged(String)
    /// The retry policy decides whether to repeat the request. Otherwise, the core checks the response.
    case refused
    case unusable(String)
}

/// Builds the requests of a protocol and interprets its responses.
protocol UploadDialect: Sendable {
    /// `method` is the user's, and `digest` is the whole body's SHA-256, if it should be sent.
    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage
    func inquiry() -> UploadMessage
    /// `digest` is the part's SHA-256, if it should be sent.
    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage
    func termination() -> UploadMessage

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict
    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict
    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict
    func namesUpload(_ response: HTTPResponse) -> Bool
}

struct UploadPlan: Sendable, Equatable {
    /// Nil if the body's length is unknown.
    var total: Int64?
    var maximumRequestBytes: Int64?
    var metadata: [String: String] = [:]
    /// If the server's 104 responses don't arrive, an empty creating request still gets a final response with the
    /// upload's URL.
    var beginsEmpty = false
    /// Bytes excluded from the creating request. If its response is lost, a repeated request creates a second upload,
    /// so the first upload must not become complete.
    enum HeldBack: Sendable { case nothing, lastByte, everything }

    var heldBack = HeldBack.nothing
    var isSegment = false
    var server: UploadServer

    func part(at offset: Int64) -> UploadPart {
        UploadPart(at: offset, of: total, within: server.limits, upTo: maximumRequestBytes)
    }
}
