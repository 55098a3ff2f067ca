import Errand

/// A request of an upload before its body is opened: the protocol's additions to the user's request.
struct UploadMessage: Sendable, Equatable {
    var method: HTTPMethod
    var headers: HTTPHeaders
    /// `nil` for no body.
    var part: UploadPart?
}

/// The part of the body that a request carries.
struct UploadPart: Sendable, Equatable {
    var offset: Int64
    /// `nil` if the body's length is unknown.
    var count: Int64?
    var isLast: Bool

    var end: Int64? { count.map { offset + $0 } }

    /// Creates a part that begins at an offset and has as many bytes as one request may carry.
    ///
    /// - Parameters:
    ///   - total: The body's length, if known.
    ///   - maximum: The maximum size of a request, if limited.
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

    /// Excludes the body's end, so another request has to complete the upload.
    mutating func holdBack(_ held: UploadPlan.HeldBack) {
        guard isLast, held != .nothing else { return }
        // If the body's length is unknown, so is its last byte.
        (count, isLast) = (held == .lastByte ? count.map { max(0, $0 - 1) } ?? 0 : 0, false)
    }
}

/// The meaning of a response for the upload.
enum UploadVerdict: Sendable, Equatable {
    /// This response completes the upload.
    case complete
    /// The server has the bytes up to this offset. `nil` if it has to be asked.
    case has(Int64?)
    /// The server lost its bytes, or they are useless.
    case gone(String)
    /// The bytes were damaged in transit and have to be sent again.
    case damaged(String)
    /// The response is up to the retry policy, and then to Core.
    case refused
    /// The upload can't continue.
    case unusable(String)
}

/// Builds the requests of a protocol and interprets its responses. Pure.
protocol UploadDialect: Sendable {
    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - method: The method of the user's request.
    ///   - digest: The SHA-256 of the whole body, if it should be sent.
    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage
    /// Asks which bytes the server has.
    func inquiry() -> UploadMessage
    /// Sends bytes.
    ///
    /// - Parameter digest: The SHA-256 of the part, if it should be sent.
    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage
    /// Deletes an upload.
    func termination() -> UploadMessage

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict
    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict
    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict
    /// Whether a final response's `Location` is the upload's URL, and not the URL of the resulting resource.
    func namesUpload(_ response: HTTPResponse) -> Bool
}

struct UploadPlan: Sendable, Equatable {
    /// `nil` if the body's length is unknown.
    var total: Int64?
    /// The app's limit for the bytes of one request, if any.
    var maximumRequestBytes: Int64?
    var metadata: [String: String] = [:]
    /// Whether to create the upload without bytes, because the server's 104 responses don't arrive. The final response
    /// then contains its URL.
    var beginsEmpty = false
    /// The bytes that the creating request excludes. If its response is lost, the request is repeated and creates a
    /// second upload, so the first one must not become complete.
    enum HeldBack: Sendable { case nothing, lastByte, everything }

    var heldBack = HeldBack.nothing
    /// Whether it's a segment, which tus joins with the others.
    var isSegment = false
    var server: UploadServer

    func part(at offset: Int64) -> UploadPart {
        UploadPart(at: offset, of: total, within: server.limits, upTo: maximumRequestBytes)
    }
}
