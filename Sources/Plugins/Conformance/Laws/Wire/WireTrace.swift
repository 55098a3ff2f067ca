import Errand
import ErrandEssentials
import ErrandTesting

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
        case timings(isNegative: Bool)
    }

    /// A request as the transport received it, without its body and tags.
    struct Sent: Sendable {
        let target: String
        let authority: String
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
    var requests: [RecordedRequest] = []
    /// Includes requests with interrupted uploads.
    var arrivals = 0
    var head: Head?
    var body = Data()
    var isComplete = false
    var failure: Failure?
    var events: [Event] = []
    var isHanging = false
    /// How far the agent's clock advanced during the exchange.
    var elapsed = Duration.zero
    /// Whether the server noticed that the client closed the connection of a cancelled or dropped exchange.
    var isClosed = false
    var remains: [String] = []
}
