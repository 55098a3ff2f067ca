#if os(Linux) || os(Android)
import Errand
import ErrandEssentials

enum SentBody {
    case none
    case data(Data)
    case stream(UploadStream)

    /// Throws the error of opening the body, and `invalidRequest` for a HEAD with a body.
    init(_ request: HTTPRequest) throws {
        let mayBeEmpty = request.method == .get || request.method == .head || request.method == .delete
        if let data = request.body.data {
            // An empty body is announced by Content-Length: 0 (RFC 9110, section 8.6).
            let sendsLength = request.method == .post || request.method == .put || request.method == .patch
            self = data.isEmpty && (mayBeEmpty || !sendsLength) ? .none : .data(data)
        } else {
            let body = try request.body.open()
            if let data = body.data {
                self = data.isEmpty && mayBeEmpty ? .none : .data(data)
            } else {
                self = .stream(UploadStream(body, length: request.body.length ?? body.length))
            }
        }
        if request.method == .head, !isNone { throw ErrandError(.invalidRequest, "a HEAD request can't have a body") }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    /// `nil` if it is unknown and the body must be sent in chunks.
    var length: Int64? {
        switch self {
        case .none: nil
        case .data(let data): Int64(data.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether part of a single-use source was read.
    var isBegunStream: Bool { if case .stream(let stream) = self { stream.isBegun } else { false } }

    func stop() { if case .stream(let stream) = self { stream.stop() } }
}
#endif
