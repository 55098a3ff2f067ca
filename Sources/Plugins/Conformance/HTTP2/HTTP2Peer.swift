import Errand
import ErrandEssentials
import ErrandTesting

/// A server for HTTP/2 (RFC 9113) that reacts to each request with scripted frames, and notes what clients do wrong.
final class HTTP2Peer: Sendable {
    struct Request: Sendable {
        /// The number of the connection, starting at 1.
        let connection: Int
        let fields: [HTTP2Field]
        var body = Data()

        func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
        var method: String { values(of: ":method").first ?? "" }
        var path: String { values(of: ":path").first ?? "" }
    }

    enum Step: Sendable {
        /// A header block. With `:status` first it's a head, otherwise trailers.
        case fields([HTTP2Field], ends: Bool = false)
        /// An encoded header block.
        case block([UInt8], ends: Bool = false)
        case data(Data, ends: Bool = false, padding: UInt8? = nil)
        /// A frame of any kind, on the stream.
        case frame(UInt8, flags: UInt8 = 0, [UInt8] = [])
        /// RST_STREAM.
        case reset(HTTP2Code)
        /// GOAWAY. The last stream is the current one, unless it's excluded.
        case goAway(excludesStream: Bool = false, HTTP2Code = .noError)
        /// PING. The next step waits for its acknowledgement.
        case ping
        /// Waits for a request with the path "/release" on the same connection.
        case hold
        case close
    }

    struct Settings: Sendable {
        var initialWindow: Int?
        var maximumStreams: Int?
        /// Whether to react when the head of a request has arrived.
        var reactsToHead = false
    }

    struct State: Sendable {
        var connections = 0
        var requests: [Request] = []
        /// The paths of the requests whose stream the client has ended early.
        var abandoned: [String] = []
        var faults: [String] = []
    }

    typealias React = @Sendable (Request) -> [Step]?

    let server: TestServer
    let state: Watched<State>

    /// Creates a server that responds to requests with 200 and "ok" if `react` returns `nil`.
    init(_ settings: Settings, _ react: @escaping React) throws {
        let state = Watched(State())
        self.state = state
        server = try TestServer()
        let plan = ConnectionPlan.converse { conversation in
            let number = state.update { state in
                state.connections += 1
                return state.connections
            }
            var connection = HTTP2Connection(conversation, number, settings, state, react)
            try connection.run()
        }
        for _ in 0..<64 { server.enqueueConnections(plan) }
    }

    func requests(_ path: String) -> [Request] { state.read { $0.requests.filter { $0.path == path } } }
}

/// Error codes (RFC 9113, section 7).
enum HTTP2Code: UInt32, Sendable {
    case noError = 0
    case internalError = 2
    case refusedStream = 7
    case cancel = 8
}
