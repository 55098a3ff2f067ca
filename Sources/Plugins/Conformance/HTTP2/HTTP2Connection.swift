import Errand
import ErrandEssentials
import ErrandTesting

/// A connection of ``HTTP2Peer``. It's used by a single thread.
struct HTTP2Connection {
    private typealias Kind = HTTP2Frame.Kind
    private typealias Flag = HTTP2Frame.Flag

    private struct Stream {
        var request: HTTP2Peer.Request
        var steps: [HTTP2Peer.Step] = []
        /// The number of bytes that the server may send.
        var window: Int
        /// The number of bytes that the client may send.
        var granted: Int
        /// Whether the client has sent its last frame.
        var isReceived = false
        /// Whether the server has sent its last frame.
        var isSent = false
        /// The number of the PING for whose acknowledgement the steps wait.
        var ping: Int?
    }

    private static let defaultWindow = 65_535

    private let conversation: TestConversation
    private let number: Int
    private let settings: HTTP2Peer.Settings
    private let state: Watched<HTTP2Peer.State>
    private let react: HTTP2Peer.React

    private var input = Data()
    private var fields = HTTP2Fields()
    private var streams: [UInt32: Stream] = [:]
    private var last: UInt32 = 0
    private var window = Self.defaultWindow
    private var initialWindow = Self.defaultWindow
    private var block: (stream: UInt32, flags: UInt8, bytes: [UInt8])?
    private var pings = (sent: 0, acknowledged: 0)
    private var isAcknowledged = false
    private var isReleased = false

    private struct Closed: Error {}

    init(
        _ conversation: TestConversation, _ number: Int, _ settings: HTTP2Peer.Settings,
        _ state: Watched<HTTP2Peer.State>, _ react: @escaping HTTP2Peer.React
    ) {
        (self.conversation, self.number, self.settings) = (conversation, number, settings)
        (self.state, self.react) = (state, react)
    }

    mutating func run() throws {
        guard try read(24) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) else {
            return note("expected the preface of HTTP/2 with prior knowledge or over TLS, got other bytes")
        }
        var payload: [UInt8] = []
        if let count = settings.maximumStreams { payload += [0, 3] + Self.word(count) }
        if let size = settings.initialWindow { payload += [0, 4] + Self.word(size) }
        try send(Kind.settings, 0, 0, payload)
        defer {
            let rest = streams.values.map(\.request.path)
            state.update { $0.abandoned += rest }
        }
        while let head = try read(HTTP2Frame.headLength) {
            let (length, kind, flags, stream) = HTTP2Frame.head(head)
            if length > HTTP2Frame.largestPayload { return note("expected frames up to 16,384 bytes, got \(length)") }
            guard let payload = try read(length) else { return }
            do {
                try receive(kind, flags, stream, payload)
                while try advance() {}
            } catch is Closed { return }
        }
    }

    private func note(_ fault: String) { state.update { $0.faults.append(fault) } }

    private mutating func read(_ count: Int) throws -> [UInt8]? {
        while input.count < count {
            guard let bytes = try conversation.receive() else { return nil }
            input.append(bytes)
        }
        defer { input = Data(input.dropFirst(count)) }
        return Array(input.prefix(count))
    }

    // MARK: Receiving

    private mutating func receive(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) throws {
        switch kind {
        case Kind.data: try receiveData(flags, stream, payload)
        case Kind.headers:
            var bytes = try Self.unpadded(payload, flags)
            if flags & Flag.priority != 0 { bytes = bytes.dropFirst(5) }
            block = (stream, flags, Array(bytes))
            if flags & Flag.endHeaders != 0 { try receiveBlock() }
        case Kind.continuation:
            block?.bytes += payload
            if flags & Flag.endHeaders != 0 { try receiveBlock() }
        case Kind.reset:
            if let ended = streams.removeValue(forKey: stream) {
                state.update { $0.abandoned.append(ended.request.path) }
            }
        case Kind.settings:
            if flags & Flag.acknowledgement != 0 { isAcknowledged = true } else { try receiveSettings(payload) }
        case Kind.ping:
            if flags & Flag.acknowledgement != 0 {
                pings.acknowledged += 1
            } else {
                try send(Kind.ping, Flag.acknowledgement, 0, payload)
            }
        case Kind.windowUpdate:
            let size = payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            if size == 0 { note("expected an increment of a window, got 0") }
            if stream == 0 { window += size } else { streams[stream]?.window += size }
        default: break
        }
    }

    private static func unpadded(_ payload: [UInt8], _ flags: UInt8) throws -> ArraySlice<UInt8> {
        guard flags & Flag.padded != 0 else { return payload[...] }
        guard let padding = payload.first, Int(padding) < payload.count else { throw Closed() }
        return payload.dropFirst().dropLast(Int(padding))
    }

    private mutating func receiveSettings(_ payload: [UInt8]) throws {
        for start in stride(from: 0, to: payload.count - 5, by: 6) where payload[start + 1] == 4 {
            let size = payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | Int($1) }
            for stream in streams.keys { streams[stream]?.window += size - initialWindow }
            initialWindow = size
        }
        try send(Kind.settings, Flag.acknowledgement, 0, [])
    }

    private mutating func receiveData(_ flags: UInt8, _ id: UInt32, _ payload: [UInt8]) throws {
        if !payload.isEmpty { try send(Kind.windowUpdate, 0, 0, Self.word(payload.count)) }
        guard var stream = streams[id] else { return }
        stream.granted -= payload.count
        if stream.granted < 0 { note("expected a request body within the stream's window, got more bytes") }
        stream.request.body += Data(try Self.unpadded(payload, flags))
        stream.isReceived = flags & Flag.endStream != 0
        if !payload.isEmpty, !stream.isReceived {
            stream.granted += payload.count
            try send(Kind.windowUpdate, 0, id, Self.word(payload.count))
        }
        streams[id] = stream
        if stream.isReceived { complete(id) }
    }

    private mutating func receiveBlock() throws {
        guard let (id, flags, bytes) = block else { throw Closed() }
        block = nil
        let received: [HTTP2Field]
        do { received = try fields.decode(bytes) } catch {
            note("expected a header block, got bytes that can't be decoded")
            throw Closed()
        }
        if streams[id] != nil {
            // Trailers.
            streams[id]?.isReceived = true
            return complete(id)
        }
        if id <= last || id % 2 == 0 { note("expected increasing odd numbers of streams, got \(id)") }
        last = max(last, id)
        let request = HTTP2Peer.Request(connection: number, fields: received)
        for fault in request.faults { note(fault) }
        streams[id] = Stream(
            request: request, window: initialWindow,
            granted: isAcknowledged ? settings.initialWindow ?? Self.defaultWindow : Self.defaultWindow,
            isReceived: flags & Flag.endStream != 0)
        let open = streams.values.count { !($0.isReceived && $0.isSent) }
        if let most = settings.maximumStreams, isAcknowledged, open > most {
            note("expected at most \(most) concurrent streams, got \(open)")
        }
        if settings.reactsToHead { respond(id) }
        if flags & Flag.endStream != 0 { complete(id) }
    }

    private mutating func complete(_ id: UInt32) {
        guard let request = streams[id]?.request else { return }
        let lengths = request.values(of: "content-length")
        if let length = lengths.first, lengths.count > 1 || length != "\(request.body.count)" {
            note("expected the length \(request.body.count), got \(lengths)")
        }
        if !settings.reactsToHead { respond(id) }
    }

    private mutating func respond(_ id: UInt32) {
        guard let request = streams[id]?.request else { return }
        state.update { $0.requests.append(request) }
        if request.path == "/release" { isReleased = true }
        streams[id]?.steps = react(request) ?? HTTP2Peer.Step.text("ok")
    }

    // MARK: Sending

    /// Performs a step of each stream. Returns `false` if all streams wait.
    private mutating func advance() throws -> Bool {
        var isMoving = false
        for id in streams.keys.sorted() {
            while let stream = streams[id], let step = stream.steps.first {
                guard try perform(step, id, stream) else { break }
                isMoving = true
                // The streams take turns, so their frames alternate.
                if case .data = step { break }
            }
            if let stream = streams[id], stream.isSent, stream.isReceived, stream.steps.isEmpty { streams[id] = nil }
        }
        return isMoving
    }

    private mutating func perform(_ step: HTTP2Peer.Step, _ id: UInt32, _ stream: Stream) throws -> Bool {
        switch step {
        case .fields(let fields, let ends): try sendBlock(HTTP2Fields.encode(fields), ends, id)
        case .block(let bytes, let ends): try sendBlock(bytes, ends, id)
        case .data(let data, let ends, let padding): return try sendData(data, ends, padding, id, stream)
        case .frame(let kind, let flags, let payload): try send(kind, flags, id, payload)
        case .reset(let code):
            try send(Kind.reset, 0, id, Self.word(Int(code.rawValue)))
            streams[id]?.isSent = true
            streams[id]?.isReceived = true
        case .goAway(let excludesStream, let code):
            let last = excludesStream ? max(id, 2) - 2 : id
            try send(Kind.goAway, 0, 0, Self.word(Int(last)) + Self.word(Int(code.rawValue)))
        case .ping:
            guard let ping = stream.ping else {
                pings.sent += 1
                streams[id]?.ping = pings.sent
                try send(Kind.ping, 0, 0, [UInt8](repeating: 7, count: 8))
                return false
            }
            if pings.acknowledged < ping { return false }
            streams[id]?.ping = nil
        case .hold: if !isReleased { return false }
        case .close: throw Closed()
        }
        streams[id]?.steps.removeFirst()
        return true
    }

    private mutating func sendBlock(_ block: [UInt8], _ ends: Bool, _ id: UInt32) throws {
        try conversation.send(Data(HTTP2Frame.bytes(ofBlock: block, endsStream: ends, stream: id)))
        if ends { streams[id]?.isSent = true }
    }

    private mutating func sendData(
        _ data: Data, _ ends: Bool, _ padding: UInt8?, _ id: UInt32, _ stream: Stream
    ) throws -> Bool {
        let extra = padding.map { Int($0) + 1 } ?? 0
        let room = min(window, stream.window, HTTP2Frame.largestPayload) - extra
        if room < min(data.count, 1) { return false }
        let part = data.prefix(max(0, room))
        let isWhole = part.count == data.count
        let flags = (isWhole && ends ? Flag.endStream : 0) | (padding == nil ? 0 : Flag.padded)
        let zeros = [UInt8](repeating: 0, count: max(0, extra - 1))
        try send(Kind.data, flags, id, (padding.map { [$0] } ?? []) + Array(part) + zeros)
        window -= part.count + extra
        streams[id]?.window -= part.count + extra
        if isWhole {
            streams[id]?.steps.removeFirst()
            if ends { streams[id]?.isSent = true }
        } else {
            streams[id]?.steps[0] = .data(Data(data.dropFirst(part.count)), ends: ends, padding: padding)
        }
        return true
    }

    private static func word(_ number: Int) -> [UInt8] { HTTP2Frame.word(UInt32(truncatingIfNeeded: number)) }

    private func send(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) throws {
        try conversation.send(Data(HTTP2Frame.bytes(kind, flags, stream: stream, payload)))
    }
}

extension HTTP2Peer.Step {
    static func text(_ text: String, _ fields: HTTP2Field...) -> [HTTP2Peer.Step] {
        [.fields([HTTP2Field(":status", "200")] + fields), .data(Data(text.utf8), ends: true)]
    }
}

extension HTTP2Peer.Request {
    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    /// What RFC 9113, section 8, doesn't allow.
    fileprivate var faults: [String] {
        var faults: [String] = []
        for name in [":method", ":scheme", ":path"] where values(of: name).count != 1 {
            faults.append("expected one \(name), got \(values(of: name))")
        }
        let isOrdered = !zip(fields, fields.dropFirst()).contains { !$0.name.hasPrefix(":") && $1.name.hasPrefix(":") }
        if !isOrdered { faults.append("expected pseudo-header fields before the other fields, got \(fields)") }
        for field in fields {
            if field.name != field.name.lowercased() { faults.append("expected lowercase names, got \(field.name)") }
            if Self.connectionFields.contains(field.name.lowercased()) {
                faults.append("expected no field of a connection, got \(field.name): \(field.value)")
            }
            if field.name == "te", field.value != "trailers" {
                faults.append("expected TE: trailers or no TE, got \(field.value)")
            }
        }
        let hosts = Set(values(of: ":authority") + values(of: "host"))
        if hosts.count != 1 { faults.append("expected one :authority or Host, got \(hosts.sorted())") }
        return faults
    }
}
