import Errand
import ErrandEssentials
import ErrandTesting

/// What happened in an exchange.
struct WireTrace: Sendable {
    struct Head: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var length: Int64?
        var url: URL
    }

    enum Event: Sendable {
        case informational(Int, HTTPHeaders)
        case trailers(HTTPHeaders)
        case progress(TransferProgress)
        case timings
    }

    /// A request as the transport got it. Keeps neither its body nor its tags.
    struct Sent: Sendable {
        let target: String
        let url: URL
        let headers: HTTPHeaders
        let length: Int64?
    }

    struct Failure: Sendable {
        let code: ErrandError.Code?
        let isCancelled: Bool
        let description: String
        let evidence: Int?

        init(_ error: any Error) {
            let known = error as? ErrandError
            code = known?.code
            isCancelled = known?.code == .cancelled || error is CancellationError
            description = known.map { "\($0.code): \($0.message)" } ?? "\(type(of: error))"
            evidence = known?.response?.status
        }
    }

    var sent: Sent?
    var mayCollect = false
    /// The complete requests at the server.
    var requests: [RecordedRequest] = []
    /// With those whose body was interrupted.
    var arrivals = 0
    var head: Head?
    var body = Data()
    var isComplete = false
    var failure: Failure?
    var events: [Event] = []
    var isHanging = false
    /// Whether the server saw the end of a connection whose exchange was cancelled or dropped.
    var isClosed = false
    /// The objects that outlived the exchange.
    var remains: [String] = []
}
