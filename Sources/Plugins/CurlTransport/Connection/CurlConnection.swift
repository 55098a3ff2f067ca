#if os(Linux) || os(Android)
import CErrandCurl
public import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A connection without a request. libcurl opens it and transfers its bytes.
final class CurlConnection: @unchecked Sendable {
    // Sendable: `shared` is a Mutex, and the other variables are accessed only under the loop's driver lock.

    enum Phase { case new, opening, open, over }

    struct Shared: ~Copyable {
        var opener: Transfer.Waiter?
        var reader: Transfer.Reader?
        var input = Data()
        var isAtEnd = false
        var output: [Data] = []
        /// The numbers of bytes added so far, and of bytes that the system has accepted.
        var added: UInt64 = 0
        var sent: UInt64 = 0
        var flushes: [(id: UInt64, upTo: UInt64, waiter: Transfer.Waiter)] = []
        var lastFlush: UInt64 = 0
        var failure: ErrandError?
        var isLosing = false
        var isReceivePaused = false
        var isClosed = false
    }

    let request: HTTPRequest
    let target: RequestTarget
    let options: TransportOptions
    let loop: CurlLoop
    let inactivityLimit: UInt64
    /// Whether the connection has neither TLS nor a proxy, so a TLS library never buffers bytes.
    let isPlain: Bool
    let shared = Mutex(Shared())

    // MARK: Under the driver lock

    var phase = Phase.new
    var rounds: AddressRounds
    var hasUnwatchedSocket = false
    var begun: UInt64 = 0
    var handle: EasyHandle?
    var pool: CurlPool?
    var descriptor: Int32 = -1
    var systemError: Int32 = 0
    var registered: Int32 = 0
    /// The pieces being sent, and how many bytes of the first piece were sent.
    var outgoing: ArraySlice<Data> = []
    var offset = 0

    /// The number of waiting bytes at which the loop stops receiving.
    static let highWater = 128 << 10

    init(_ request: HTTPRequest, options: TransportOptions, loop: CurlLoop) throws {
        target = try RequestTarget(request)
        (self.request, self.options, self.loop) = (request, options, loop)
        inactivityLimit = Nanoseconds.of(options.timeout)
        rounds = AddressRounds(
            limit: loop.connectTimeout, timeout: options.time is SystemTimeSource ? inactivityLimit : .max,
            isWatched: false, loop.library)
        isPlain = !target.isSecure && loop.proxy.http.isEmpty
    }

    static var closed: ErrandError { ErrandError(.cancelled, "the connection was closed") }

    func open() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let opener = Transfer.Waiter(continuation)
                let isClosed = shared.withLock { shared in
                    if !shared.isClosed { shared.opener = opener }
                    return shared.isClosed
                }
                if isClosed { return opener.resume(throwing: Self.closed) }
                if !loop.run(.serve(self)) { end(with: CurlLoop.ended) }
            }
        } onCancel: {
            close()
        }
    }

    func openSocket(_ address: errand_curl_sockaddr) -> Int32 {
        // A new socket counts as unwatched, because libcurl never watches a socket that fails immediately.
        hasUnwatchedSocket = true
        loop.connections.hasUnwatchedSocket = true
        return errand_socket_make(address.family, address.socktype, address.protocol)
    }

    func beginLookup() { limit(rounds.beginLookup(at: loop.now)) }

    func limit(_ limit: UInt64?) {
        if let limit { handle?.setConnectLimit(limit) }
    }

    /// Records the events that libcurl waits for on a socket. Call this when libcurl changes them.
    func noteSocket(_ what: Int32) {
        if phase != .opening { return }
        hasUnwatchedSocket = what == ERRAND_CURL_POLL_REMOVE
        if hasUnwatchedSocket {
            loop.connections.hasUnwatchedSocket = true
            limit(rounds.endLookup(at: loop.now))
        } else if what & ERRAND_CURL_POLL_IN != 0 {
            limit(rounds.establish())
        }
    }

    // MARK: Receiving

    func receive() async throws -> Data? {
        if let found = try taken() { return found.data }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(Transfer.Reader($0)) }
        } onCancel: {
            let reader = shared.withLock { $0.reader.take() }
            reader?.resume(throwing: CancellationError())
        }
    }

    private struct Found { let data: Data? }

    /// Returns the received bytes, or `nil` if the reader must wait. If the loop had paused, it receives again.
    private func taken() throws -> Found? {
        let (found, isPaused) = try shared.withLock { shared throws(ErrandError) -> (Found?, Bool) in
            if !shared.input.isEmpty {
                defer { (shared.input, shared.isReceivePaused) = (Data(), false) }
                return (Found(data: shared.input), shared.isReceivePaused)
            }
            if let failure = shared.failure { throw failure }
            return (shared.isAtEnd ? Found(data: nil) : nil, false)
        }
        if isPaused { loop.submit(.serve(self)) }
        return found
    }

    private func wait(_ reader: Transfer.Reader) {
        let isWaiting = shared.withLock { shared in
            guard shared.input.isEmpty, shared.failure == nil, !shared.isAtEnd, !Task.isCancelled else { return false }
            shared.reader = reader
            return true
        }
        if isWaiting {
            // The cancellation handler may have run before the reader was registered.
            if Task.isCancelled {
                let reader = shared.withLock { $0.reader.take() }
                reader?.resume(throwing: CancellationError())
            }
            return
        }
        do {
            if let found = try taken() { return reader.resume(returning: found.data) }
            reader.resume(throwing: CancellationError())
        } catch { reader.resume(throwing: error) }
    }

    // MARK: Sending

    var pendingBytes: Int { shared.withLock { Int($0.added - $0.sent) } }

    func enqueue(_ data: Data) {
        if data.isEmpty { return }
        shared.withLock { shared in
            if shared.failure != nil {
                shared.isLosing = true
                return
            }
            shared.output.append(isPlain ? data : Self.placed(data))
            shared.added += UInt64(data.count)
        }
    }

    /// Returns bytes with a stable address. OpenSSL requires the same address when it retries a write, but `Data`
    /// stores a few bytes inline.
    private static func placed(_ data: Data) -> Data {
        if data.count > MemoryLayout<Data>.size { return data }
        var placed = Data(capacity: 64)
        placed.append(data)
        return placed
    }

    func push() {
        if shared.withLock({ !$0.output.isEmpty && $0.failure == nil }) { loop.run(.serve(self)) }
    }

    func flush() async throws {
        push()
        let id = shared.withLock { shared in
            shared.lastFlush += 1
            return shared.lastFlush
        }
        if try isSent { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Transfer.Waiter(continuation)
                let isWaiting = shared.withLock { shared in
                    guard shared.failure == nil, shared.sent < shared.added, !Task.isCancelled else { return false }
                    shared.flushes.append((id, shared.added, waiter))
                    return true
                }
                if isWaiting {
                    if Task.isCancelled { cancelFlush(id) }
                    return
                }
                do {
                    if try !isSent { throw CancellationError() }
                    waiter.resume()
                } catch { waiter.resume(throwing: error) }
            }
        } onCancel: {
            cancelFlush(id)
        }
    }

    private var isSent: Bool {
        get throws {
            try shared.withLock { shared throws(ErrandError) in
                let isSent = shared.sent == shared.added && !shared.isLosing
                // If the system accepted all bytes before a failure, they count as sent.
                if let failure = shared.failure, !isSent || shared.isClosed { throw failure }
                return isSent
            }
        }
    }

    private func cancelFlush(_ id: UInt64) {
        let waiter = shared.withLock { shared in
            shared.flushes.firstIndex { $0.id == id }.map { shared.flushes.remove(at: $0).waiter }
        }
        waiter?.resume(throwing: CancellationError())
    }

    // MARK: Closing

    /// Closes the connection. Pending operations end at once, and the loop closes the socket soon afterward.
    func close() {
        let isFirst = shared.withLock { shared in
            defer { shared.isClosed = true }
            return !shared.isClosed
        }
        if !isFirst { return }
        end(with: Self.closed)
        loop.submit(.serve(self))
    }

    /// Ends the connection with an error. Call this from any thread, without the driver lock.
    private func end(with error: ErrandError) { for item in ended(by: error) { DeferredWork.deliver(item) } }

    /// Records an error, unless the connection already has one. Returns the results for pending operations.
    func ended(by error: ErrandError) -> [DeferredWork.Item] {
        shared.withLock { shared in
            if shared.failure == nil { shared.failure = error }
            var items: [DeferredWork.Item] = []
            if let opener = shared.opener.take() { items.append(.progress(opener, error)) }
            if let reader = shared.reader.take() { items.append(.bytes(reader, .failure(error))) }
            items += shared.flushes.map { .progress($0.waiter, error) }
            (shared.flushes, shared.output) = ([], [])
            return items
        }
    }
}

// Sends and receives through libcurl, or on a socket that libcurl has handed over, under the driver lock.
extension CurlConnection {
    var isTaken: Bool { handle == nil && descriptor >= 0 }

    func send(_ bytes: Data, from offset: Int, _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.send(bytes, from: offset, &count) }
        return coded(SystemCalls.send(bytes, from: offset, on: descriptor, &count), CurlCode.sendError)
    }

    func receive(into room: inout [UInt8], _ count: inout Int) -> Int32 {
        if let handle { return handle.easy.receive(into: &room, &count) }
        return coded(SystemCalls.receive(into: &room, from: descriptor, &count), CurlCode.receiveError)
    }

    private func coded(_ number: Int32, _ code: Int32) -> Int32 {
        if number == 0 { return 0 }
        if number == EAGAIN { return ERRAND_CURL_AGAIN }
        systemError = number
        return code
    }

    func lost(_ code: Int32) -> ErrandError {
        let text: String
        if let handle {
            let failure = handle.failure(code, loop.proxy)
            text = failure.detail.isEmpty ? failure.summary : failure.detail
        } else {
            text = systemErrorText(systemError)
        }
        return ErrandError(.connectionLost, text, underlying: CurlError(code: code, message: text))
    }
}

extension CurlTransport: ConnectingTransport {
    /// Opens a dedicated connection on this transport's libcurl thread. See ``Errand/ConnectingTransport``. The
    /// connection doesn't count toward the limits in ``CurlConfiguration``.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let connection = try CurlConnection(request, options: options, loop: try await loop(options))
        try await connection.open()
        return OpenConnection(connection)
    }
}

/// The caller's end of a connection.
final class OpenConnection: ByteConnection {
    private let connection: CurlConnection

    init(_ connection: CurlConnection) { self.connection = connection }

    deinit { connection.close() }

    var pendingBytes: Int { connection.pendingBytes }
    func receive() async throws -> Data? { try await connection.receive() }
    func enqueue(_ data: Data) { connection.enqueue(data) }
    func push() { connection.push() }
    func flush() async throws { try await connection.flush() }
    func close() { connection.close() }
}
#endif
