#if os(Linux)
import ErrandConformance
import ErrandEssentials
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// An HTTP/2 server that speaks in raw frames (RFC 9113), over TLS on a loopback port, and reacts to each request as
/// the test decides.
final class HTTP2Server: Sendable {
    /// A request whose header block has arrived, and also its body if the server waits for it.
    struct Arrival: Sendable {
        /// The number of the connection, starting at 1.
        let connection: Int
        /// The number of earlier requests, on all connections.
        let number: Int
        let method: String
    }

    enum Reaction: Sendable {
        /// 200 with the body "ok".
        case respond
        /// RST_STREAM with REFUSED_STREAM (section 8.7).
        case refuse
        /// GOAWAY that excludes the stream (section 6.8), then closes the connection.
        case goAway
        /// GOAWAY that excludes the stream, while the connection stays open for older streams.
        case goAwayOpen
        /// Waits until a later stream of the connection is refused, then sends 200.
        case hold
        /// GOAWAY that excludes all streams that haven't begun, and 200 for those that have. The connection stays open.
        case respondLast
        /// Sends these steps in one write. The connection stays open unless the last step closes it.
        case send([Step])
    }

    /// A step of a response, valid or not.
    enum Step: Sendable {
        /// A header block of these fields. With `:status` first it's a head, otherwise trailers. A block that doesn't
        /// fit in one frame continues in CONTINUATION frames.
        case fields([(String, String)], ends: Bool = false)
        /// An encoded header block.
        case block([UInt8], ends: Bool = false)
        case data(String, ends: Bool = false)
        case reset(UInt32)
        /// GOAWAY with this code. Its last stream ID is the current one plus `after`, which must be even.
        case goAway(code: UInt32 = 0, after: Int = 0)
        case close
        /// Ends the current write. Later steps go into the next one.
        case flush
    }

    let url: String
    private let server: RawServer
    private let log: Log<Arrival>
    private let responded: Log<UInt32>

    /// Creates a server that reacts when a request is complete if `waitsForBody` is true, otherwise to its header
    /// block.
    init(
        _ context: TLSContext, waitsForBody: Bool, _ react: @escaping @Sendable (Arrival) -> Reaction
    ) throws {
        let log = Log<Arrival>()
        let connections = Atomic(0)
        let responded = Log<UInt32>()
        server = try RawServer { peer in
            // OpenSSL writes without MSG_NOSIGNAL.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let session = context.accept(peer.descriptor) else { return }
            let connection = connections.add(1, ordering: .relaxed).newValue
            var exchange = Connection(session: session, waitsForBody: waitsForBody, responded: responded)
            exchange.run { method in
                let arrival = Arrival(connection: connection, number: log.all.count, method: method)
                log.add(arrival)
                return react(arrival)
            }
        }
        self.log = log
        self.responded = responded
        url = "https://localhost:\(server.port)/"
    }

    /// The number of requests that got 200 and "ok".
    var responses: Int { responded.all.count }

    var arrivals: [Arrival] { log.all }

    private struct Connection {
        private typealias Kind = HTTP2Frame.Kind
        private typealias Flag = HTTP2Frame.Flag
        private static let refusedStream: [UInt8] = [0, 0, 0, 7]
        private static let preface = 24

        let session: TLSSession
        let waitsForBody: Bool
        private var methods: [UInt32: String] = [:]
        private var held: [UInt32] = []
        private var last: UInt32?
        private let responded: Log<UInt32>

        init(session: TLSSession, waitsForBody: Bool, responded: Log<UInt32>) {
            (self.session, self.waitsForBody, self.responded) = (session, waitsForBody, responded)
        }

        mutating func run(_ react: (String) -> Reaction) {
            guard session.read(Self.preface) != nil else { return }
            send(Kind.settings, 0, 0, [])
            while let head = session.read(HTTP2Frame.headLength) {
                let (length, kind, flags, stream) = HTTP2Frame.head(head)
                guard let body = length == 0 ? [] : session.read(length) else { return }
                guard receive(kind, flags, stream, body, react) else { return }
            }
        }

        private mutating func receive(
            _ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8], _ react: (String) -> Reaction
        ) -> Bool {
            switch kind {
            case Kind.settings where flags & Flag.acknowledgement == 0:
                send(Kind.settings, Flag.acknowledgement, 0, [])
            case Kind.ping where flags & Flag.acknowledgement == 0:
                send(Kind.ping, Flag.acknowledgement, 0, body)
            case Kind.headers:
                methods[stream] = Self.method(body)
                if !waitsForBody || flags & Flag.endStream != 0 { return act(react, on: stream) }
            case Kind.data:
                if !body.isEmpty {
                    let size = withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) }
                    send(Kind.windowUpdate, 0, 0, size)
                    send(Kind.windowUpdate, 0, stream, size)
                }
                if waitsForBody, flags & Flag.endStream != 0 { return act(react, on: stream) }
            default: break
            }
            return true
        }

        /// The first pseudo-header is an entry of the static table for GET and POST (RFC 7541, appendix A).
        private static func method(_ block: [UInt8]) -> String {
            switch block.first {
            case 0x82: "GET"
            case 0x83: "POST"
            default: "other"
            }
        }

        private mutating func act(_ react: (String) -> Reaction, on stream: UInt32) -> Bool {
            let reaction = react(methods[stream] ?? "")
            if let last {
                if stream <= last { respond(stream) }
                return true
            }
            switch reaction {
            case .respond: respond(stream)
            case .respondLast:
                let last = methods.keys.max() ?? stream
                self.last = last
                send(Kind.goAway, 0, 0, HTTP2Frame.word(last) + [0, 0, 0, 0])
                respond(stream)
            case .refuse:
                send(Kind.reset, 0, stream, Self.refusedStream)
                respondToHeld()
            case .goAway:
                send(Kind.goAway, 0, 0, HTTP2Frame.word(max(stream, 2) - 2) + [0, 0, 0, 0])
                return false
            case .goAwayOpen:
                send(Kind.goAway, 0, 0, HTTP2Frame.word(max(stream, 2) - 2) + [0, 0, 0, 0])
                respondToHeld()
            case .hold: held.append(stream)
            case .send(let steps): return perform(steps, on: stream)
            }
            return true
        }

        /// Returns whether the connection stays open.
        private func perform(_ steps: [Step], on stream: UInt32) -> Bool {
            var bytes: [UInt8] = []
            for step in steps {
                switch step {
                case .fields(let fields, let ends):
                    let block = HTTP2Fields.encode(fields.map { HTTP2Field($0.0, $0.1) })
                    bytes += HTTP2Frame.bytes(ofBlock: block, endsStream: ends, stream: stream)
                case .block(let block, let ends):
                    bytes += HTTP2Frame.bytes(ofBlock: block, endsStream: ends, stream: stream)
                case .data(let text, let ends):
                    let flags = ends ? Flag.endStream : 0
                    bytes += HTTP2Frame.bytes(Kind.data, flags, stream: stream, Array(text.utf8))
                case .reset(let code):
                    bytes += HTTP2Frame.bytes(Kind.reset, 0, stream: stream, HTTP2Frame.word(code))
                case .goAway(let code, let offset):
                    let last = UInt32(max(0, Int(stream) + offset))
                    bytes += HTTP2Frame.bytes(
                        Kind.goAway, 0, stream: 0, HTTP2Frame.word(last) + HTTP2Frame.word(code))
                case .flush:
                    session.write(bytes)
                    bytes = []
                case .close:
                    session.write(bytes)
                    return false
                }
            }
            if !bytes.isEmpty { session.write(bytes) }
            return true
        }

        private mutating func respondToHeld() {
            for stream in held { respond(stream) }
            held = []
        }

        private func respond(_ stream: UInt32) {
            responded.add(stream)
            // 0x88 is ":status: 200".
            send(Kind.headers, Flag.endHeaders, stream, [0x88])
            send(Kind.data, Flag.endStream, stream, Array("ok".utf8))
        }

        private func send(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8]) {
            session.write(HTTP2Frame.bytes(kind, flags, stream: stream, body))
        }
    }
}

/// Certificates for one test, in a folder that's deleted along with this object.
final class TestCertificates: Sendable {
    private let folder: Folder

    init() async throws {
        folder = try Folder()
        try await Nginx.makeCertificates(in: folder.url)
    }

    func file(_ name: String) -> String { folder.path(name) }

    /// A server context for `localhost` that speaks only HTTP/2.
    func context() throws -> TLSContext { try TLSContext(certificate: file("good.pem"), key: file("good.key")) }
}
#endif
