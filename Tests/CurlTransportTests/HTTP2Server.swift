#if os(Linux)
import ErrandEssentials
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An HTTP/2 server made of raw frames (RFC 9113), over TLS on a loopback port, that reacts to each request as a test says.
final class HTTP2Server: Sendable {
    /// A request whose header block has come, and its body too where the server waits for it.
    struct Arrival: Sendable {
        /// The number of the connection, from 1.
        let connection: Int
        /// How many requests came before it, over all connections.
        let number: Int
        let method: String
    }

    enum Reaction: Sendable {
        /// 200 with the body "ok".
        case respond
        /// RST_STREAM with REFUSED_STREAM (section 8.7).
        case refuse
        /// GOAWAY that leaves the stream out (section 6.8), and the end of the connection.
        case goAway
        /// GOAWAY that leaves the stream out, on a connection that stays open for older streams.
        case goAwayOpen
        /// Nothing until a later stream of the connection is refused, then 200.
        case hold
    }

    let url: String
    private let server: RawServer
    private let log: Log<Arrival>

    /// With `waitsForBody` it reacts when the request is complete, else to its header block.
    init(
        _ context: TLSContext, waitsForBody: Bool, _ react: @escaping @Sendable (Arrival) -> Reaction
    ) throws {
        let log = Log<Arrival>()
        let connections = Atomic(0)
        server = try RawServer { peer in
            // OpenSSL writes without MSG_NOSIGNAL.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let session = context.accept(peer.descriptor) else { return }
            let connection = connections.add(1, ordering: .relaxed).newValue
            var exchange = Connection(session: session, waitsForBody: waitsForBody)
            exchange.run { method in
                let arrival = Arrival(connection: connection, number: log.all.count, method: method)
                log.add(arrival)
                return react(arrival)
            }
        }
        self.log = log
        url = "https://localhost:\(server.port)/"
    }

    /// The requests so far, in the order in which they came.
    var arrivals: [Arrival] { log.all }

    /// One connection, read frame by frame.
    private struct Connection {
        private enum Kind {
            static let data: UInt8 = 0
            static let headers: UInt8 = 1
            static let reset: UInt8 = 3
            static let settings: UInt8 = 4
            static let ping: UInt8 = 6
            static let goAway: UInt8 = 7
            static let windowUpdate: UInt8 = 8
        }
        private static let endStream: UInt8 = 1
        private static let acknowledgement: UInt8 = 1
        private static let endHeaders: UInt8 = 4
        private static let refusedStream: [UInt8] = [0, 0, 0, 7]
        private static let preface = 24

        let session: TLSSession
        let waitsForBody: Bool
        private var methods: [UInt32: String] = [:]
        private var held: [UInt32] = []

        init(session: TLSSession, waitsForBody: Bool) {
            (self.session, self.waitsForBody) = (session, waitsForBody)
        }

        mutating func run(_ react: (String) -> Reaction) {
            guard session.read(Self.preface) != nil else { return }
            send(Kind.settings, 0, 0, [])
            while let head = session.read(9) {
                let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
                guard let body = length == 0 ? [] : session.read(length) else { return }
                guard receive(head[3], head[4], stream, body, react) else { return }
            }
        }

        private mutating func receive(
            _ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8], _ react: (String) -> Reaction
        ) -> Bool {
            switch kind {
            case Kind.settings where flags & Self.acknowledgement == 0:
                send(Kind.settings, Self.acknowledgement, 0, [])
            case Kind.ping where flags & Self.acknowledgement == 0:
                send(Kind.ping, Self.acknowledgement, 0, body)
            case Kind.headers:
                methods[stream] = Self.method(body)
                if !waitsForBody || flags & Self.endStream != 0 { return act(react, on: stream) }
            case Kind.data:
                if !body.isEmpty {
                    let size = withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) }
                    send(Kind.windowUpdate, 0, 0, size)
                    send(Kind.windowUpdate, 0, stream, size)
                }
                if waitsForBody, flags & Self.endStream != 0 { return act(react, on: stream) }
            default: break
            }
            return true
        }

        /// The pseudo-header that comes first is an entry of the static table for GET and POST (RFC 7541, appendix A).
        private static func method(_ block: [UInt8]) -> String {
            switch block.first {
            case 0x82: "GET"
            case 0x83: "POST"
            default: "other"
            }
        }

        private mutating func act(_ react: (String) -> Reaction, on stream: UInt32) -> Bool {
            switch react(methods[stream] ?? "") {
            case .respond: respond(stream)
            case .refuse:
                send(Kind.reset, 0, stream, Self.refusedStream)
                respondToHeld()
            case .goAway:
                send(Kind.goAway, 0, 0, Self.word(stream - 1) + [0, 0, 0, 0])
                return false
            case .goAwayOpen:
                send(Kind.goAway, 0, 0, Self.word(stream - 1) + [0, 0, 0, 0])
                respondToHeld()
            case .hold: held.append(stream)
            }
            return true
        }

        private mutating func respondToHeld() {
            for stream in held { respond(stream) }
            held = []
        }

        private func respond(_ stream: UInt32) {
            // 0x88 is ":status: 200".
            send(Kind.headers, Self.endHeaders, stream, [0x88])
            send(Kind.data, Self.endStream, stream, Array("ok".utf8))
        }

        private static func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

        private func send(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8]) {
            let length = Self.word(UInt32(body.count)).dropFirst()
            session.write(Array(length) + [kind, flags] + Self.word(stream) + body)
        }
    }
}

/// Certificates of a test's own, in a folder that goes with this object.
final class TestCertificates: Sendable {
    private let folder: Folder

    init() async throws {
        folder = try Folder()
        try await Nginx.makeCertificates(in: folder.url)
    }

    func file(_ name: String) -> String { folder.path(name) }

    /// A server for `localhost`, which speaks HTTP/2 only.
    func context() throws -> TLSContext { try TLSContext(certificate: file("good.pem"), key: file("good.key")) }
}
#endif
