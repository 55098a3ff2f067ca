import Errand
import Foundation
import Synchronization

/// A connection for protocols other than HTTP.
///
/// The connection receives bytes only while a reader waits, so backpressure reaches the peer. It sends one piece at a
/// time.
final class SystemConnection: ByteConnection {
    private let driver: any ConnectionDriver
    let state = Mutex(ConnectionState())

    static let receiveBytes = 64 << 10

    init(_ driver: any ConnectionDriver) { self.driver = driver }

    // The driver's closures reference this object weakly, so releasing the connection ends it.
    deinit { driver.cancel() }

    func open(_ options: TransportOptions) async throws {
        let (time, limit) = (options.time, options.timeout)
        let deadline = Task { [weak self] in
            await time.wait(until: time.instant(after: limit))
            if Task.isCancelled { return }
            self?.change { $0.expire(after: limit) }
        }
        defer { deadline.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in change { $0.open(waiter) } }
        } onCancel: {
            close()
        }
    }

    func receive() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                change { $0.read(reader) }
                // The cancellation handler may have run before the reader was registered.
                if Task.isCancelled { change { $0.cancelRead() } }
            }
        } onCancel: {
            change { $0.cancelRead() }
        }
    }

    var pendingBytes: Int { state.withLock { $0.pendingBytes } }

    func enqueue(_ data: Data) { state.withLock { $0.enqueue(data) } }

    func push() { change { $0.push() } }

    func flush() async throws {
        let id = state.withLock { $0.nextFlush() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                change { $0.flush(id, waiter) }
                if Task.isCancelled { change { $0.cancelFlush(id) } }
            }
        } onCancel: {
            change { $0.cancelFlush(id) }
        }
    }

    func close() { change { $0.close() } }

    private func change(_ body: (inout ConnectionState) -> [ConnectionState.Step]) {
        let steps = state.withLock { body(&$0) }
        for step in steps { take(step) }
    }

    private func take(_ step: ConnectionState.Step) {
        switch step {
        case .start:
            driver.start { [weak self] event in
                switch event {
                case .ready: self?.change { $0.becomeReady() }
                case .failed(let reason): self?.change { $0.fail(reason) }
                }
            }
            // The connection may have ended before it started. If so, cancel it again.
            let isOver = state.withLock { $0.failure != nil }
            if isOver { driver.cancel() }
        case .receive:
            driver.receive(upTo: Self.receiveBytes) { [weak self] data, isAtEnd, reason in
                self?.change { $0.received(data, isAtEnd: isAtEnd, reason) }
            }
        case .send(let data):
            driver.send(data) { [weak self, count = data.count] reason in
                self?.change { $0.noteSent(count, reason) }
            }
        case .end: driver.cancel()
        case .resume(let waiter, let error):
            if let error { waiter.resume(throwing: error) } else { waiter.resume() }
        case .deliver(let reader, let result): reader.resume(with: result)
        }
    }
}

struct ConnectionTarget: Hashable, Sendable {
    /// The host: a name, or an address without brackets.
    let host: String
    let port: UInt16
    let isSecure: Bool

    init(_ url: URL) throws(ErrandError) {
        isSecure = url.scheme?.lowercased() == "https"
        let text = url.host(percentEncoded: true) ?? ""
        // An IPv6 address may have a zone after a percent sign.
        let isLiteral = text.utf8.contains(UInt8(ascii: ":"))
        guard !text.isEmpty, isLiteral || !text.utf8.contains(UInt8(ascii: "%")) else {
            throw ErrandError(.invalidURL, "the URL has no host to connect to")
        }
        host = isLiteral ? url.host(percentEncoded: false) ?? text : text
        guard let port = UInt16(exactly: url.port ?? (isSecure ? 443 : 80)), port > 0 else {
            throw ErrandError(.invalidURL, "the URL's port isn't between 1 and 65535")
        }
        self.port = port
    }
}
