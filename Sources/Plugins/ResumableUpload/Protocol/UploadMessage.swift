import Errand

/// A request of an upload, before its body is opened: what the protocol adds to the request of the user.
struct UploadMessage: Sendable, Equatable {
    var method: HTTPMethod
    var headers: HTTPHeaders
    /// The bytes that it carries; nil for no body.
    var part: UploadPart?
}

/// The bytes of the body that one request carries.
struct UploadPart: Sendable, Equatable {
    var offset: Int64
    /// Nil up to an end that is not known.
    var count: Int64?
    var isLast: Bool

    var end: Int64? { count.map { offset + $0 } }

    /// The bytes from an offset on, as many as one request may carry.
    ///
    /// - Parameters:
    ///   - total: the length of the body; nil where it is not known.
    ///   - maximum: the most bytes of one request; nil for no such limit.
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

    /// Leaves out the end of the body, if the part has it: another request has to end the upload.
    mutating func holdBack(_ held: UploadPlan.HeldBack) {
        guard isLast, held != .nothing else { return }
        // Of a body whose length isn't known the last byte isn't either.
        (count, isLast) = (held == .lastByte ? count.map { max(0, $0 - 1) } ?? 0 : 0, false)
    }
}

/// What a response means for the upload.
enum UploadVerdict: Sendable, Equatable {
    /// It is the response that ends the upload.
    case complete
    /// The server has the bytes up to this offset; nil where it has to be asked.
    case has(Int64?)
    /// What the server had is lost, or of no use.
    case gone(String)
    /// The bytes were damaged on the way: they are sent again.
    case damaged(String)
    /// For the retry policy and then for Core to judge.
    case refused
    /// The upload cannot continue.
    case unusable(String)
}

/// The grammar of a protocol: makes requests and reads responses. Pure.
protocol UploadDialect: Sendable {
    /// Begins an upload.
    ///
    /// - Parameters:
    ///   - method: that of the user's request.
    ///   - digest: the SHA-256 of the whole body, where it is to be sent.
    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage
    /// Asks what the server has.
    func inquiry() -> UploadMessage
    /// Sends bytes.
    ///
    /// - Parameter digest: the SHA-256 of the part, where it is to be sent.
    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage
    /// Discards an upload.
    func termination() -> UploadMessage

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict
    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict
    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict
    /// Whether the `Location` of a final response is that of the upload, and not of what the server made of it.
    func namesUpload(_ response: HTTPResponse) -> Bool
}

/// What is known before bytes are sent.
struct UploadPlan: Sendable, Equatable {
    /// The length of the body; nil where it is not known.
    var total: Int64?
    /// The most bytes of one request, as the app has chosen; nil for no such limit.
    var maximumRequestBytes: Int64?
    var metadata: [String: String] = [:]
    /// Whether the upload is begun without a byte, for a server whose 104 responses do not arrive: the final response to such
    /// a request names the upload.
    var beginsEmpty = false
    /// What the request that begins the upload leaves out. If its response is lost, another one begins a second upload: the
    /// first must not be a whole one.
    enum HeldBack: Sendable { case nothing, lastByte, everything }

    var heldBack = HeldBack.nothing
    /// Whether it is a segment of a body, which tus joins with the others.
    var isSegment = false
    var server: UploadServer

    func part(at offset: Int64) -> UploadPart {
        UploadPart(at: offset, of: total, within: server.limits, upTo: maximumRequestBytes)
    }
}
