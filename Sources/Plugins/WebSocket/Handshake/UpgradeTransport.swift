import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// Sends a request over its own connection. If the server switches protocols, the response contains this connection.
struct UpgradeTransport: Transport {
    let base: any ConnectingTransport

    private static let refusalBytes = 64 << 10

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let connection = try await TimeLimit.run(options.timeout, time: options.time) {
            try await base.connect(for: request, options: options)
        }
        do {
            // Connecting may have taken a while, so the request may have timed out or been cancelled since.
            try options.checkBeforeSending(request)
            var (response, rest) = try await exchange(request, options, over: connection)
            if response.status == 101 {
                response.connection = rest.isEmpty ? connection : StartedConnection(connection, received: rest)
            } else {
                connection.close()
            }
            return response
        } catch {
            connection.close()
            throw error
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ options: TransportOptions, over connection: any ByteConnection
    ) async throws -> (HTTPResponse, Data) {
        connection.enqueue(Self.head(of: request))
        try await TimeLimit.run(options.timeout, time: options.time) { try await connection.flush() }
        var reader = ResponseReader()
        var isAtEnd = false
        while try !reader.readHead() {
            guard let bytes = try await receive(connection, options) else {
                throw ErrandError(.connectionLost, "the connection was closed before a response")
            }
            reader.push(bytes)
        }
        // The body may be slow or endless, and the head is enough to follow a redirect or report a refusal. So the wait
        // for the body is short.
        let limit = options.time.instant(after: min(options.timeout, .seconds(1)))
        var body: Data?
        while body == nil {
            body = try reader.body(upTo: min(Self.refusalBytes, options.maximumBodyBytes), isAtEnd: isAtEnd)
            if body != nil { break }
            if let bytes = try await receive(connection, options, until: limit) {
                reader.push(bytes)
            } else {
                isAtEnd = true
            }
        }
        guard let head = reader.head else {
            throw ErrandError(.invalidResponse, "the response ended before its head was complete")
        }
        var headers = head.headers
        // The reader has removed the framing from the body, and may have truncated it. So the framing fields no longer
        // apply.
        if head.status != 101 {
            headers.remove(.contentLength)
            headers.remove(.transferEncoding)
        }
        if (300...399).contains(head.status), let target = Self.target(of: headers, from: request.url) {
            headers.set(.location, target)
        }
        let response = HTTPResponse(
            to: request, status: head.status, headers: headers, body: HTTPBody(body ?? Data()), version: head.version)
        return (response, reader.rest)
    }

    private func receive(_ connection: any ByteConnection, _ options: TransportOptions) async throws -> Data? {
        try await TimeLimit.run(options.timeout, time: options.time) { try await connection.receive() }
    }

    private func receive(
        _ connection: any ByteConnection, _ options: TransportOptions, until limit: ContinuousClock.Instant
    ) async throws -> Data? {
        let rest = options.time.now.duration(to: limit)
        if rest <= .zero { return nil }
        do {
            return try await TimeLimit.run(rest, time: options.time) { try await connection.receive() }
        } catch let error as ErrandError where !error.isCancelled {
            return nil
        }
    }

    /// Returns the bytes of the request line and the header fields (RFC 9112, section 3).
    static func head(of request: HTTPRequest) -> Data {
        let text = request.urlText
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var target = rest[authority.endIndex...].prefix { $0 != "#" }
        if target.first != "/" { target = "/" + target }
        var head = "\(request.method.rawValue) \(target) HTTP/1.1\r\n"
        if !request.headers.contains(.host) { head += "Host: \(HostName.sentAuthority(String(authority)))\r\n" }
        for field in request.headers where field.name != .contentLength {
            head += "\(field.name.rawName): \(field.value)\r\n"
        }
        return Data((head + "\r\n").utf8)
    }

    /// Returns a redirect's target, with `ws` and `wss` replaced by `http` and `https`.
    static func target(of headers: HTTPHeaders, from url: URL) -> String? {
        guard let field = headers.first(where: { $0.name == .location }),
            let target = try? field.reference.resolved(against: url), target.scheme == "ws" || target.scheme == "wss"
        else { return nil }
        return "http" + target.absoluteString.dropFirst(2)
    }
}

private final class StartedConnection: ByteConnection {
    private let base: any ByteConnection
    private let received: Mutex<Data?>

    init(_ base: any ByteConnection, received: Data) {
        self.base = base
        self.received = Mutex(received)
    }

    var pendingBytes: Int { base.pendingBytes }
    func enqueue(_ data: Data) { base.enqueue(data) }
    func push() { base.push() }
    func flush() async throws { try await base.flush() }
    func close() { base.close() }

    func receive() async throws -> Data? {
        let first = received.withLock { received in
            defer { received = nil }
            return received
        }
        return if let first { first } else { try await base.receive() }
    }
}
