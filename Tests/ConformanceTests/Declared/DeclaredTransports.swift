#if os(Linux) || os(Android)
import Errand
import ErrandCurlTransport
import Foundation
import Synchronization

/// Sends one request to a host at a time. The next one begins when the response's head has arrived.
final class OrderedTransport: Transport {
    private let inner = CurlTransport()
    private let hosts = Mutex<Set<String>>([])

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let host = request.host ?? ""
        while !hosts.withLock({ $0.insert(host).inserted }) { try await Task.sleep(for: .milliseconds(1)) }
        defer { hosts.withLock { _ = $0.remove(host) } }
        return try await inner.send(request, options: options)
    }
}

/// Sends equal concurrent requests once, if they're safe, have no body, and are collected in memory.
final class SharingTransport: Transport {
    private struct Shared: Sendable {
        let task: Task<HTTPResponse, any Error>
        var callers = 1
    }

    private let inner = CurlTransport()
    private let running = Mutex<[String: Shared]>([:])

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        guard request.method == .get, request.body.isNone, options.delivery == .data else {
            return try await inner.send(request, options: options)
        }
        let fields = request.headers.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
        let key = "\(request.urlText)\n\(options.timeout)\n\(fields)"
        let task = running.withLock { running in
            if let shared = running[key] {
                running[key]?.callers += 1
                return shared.task
            }
            let task = Task { [inner] in try await inner.send(request, options: options) }
            running[key] = Shared(task: task)
            return task
        }
        let (stream, continuation) = AsyncThrowingStream<HTTPResponse, any Error>.makeStream()
        let waiter = Task {
            do { continuation.yield(try await task.value) } catch { continuation.finish(throwing: error) }
            continuation.finish()
        }
        defer {
            waiter.cancel()
            leave(key, task)
        }
        for try await response in stream { return response }
        throw CancellationError()
    }

    private func leave(_ key: String, _ task: Task<HTTPResponse, any Error>) {
        running.withLock { running in
            guard let shared = running[key], shared.task == task else { return }
            if shared.callers == 1 {
                running[key] = nil
                task.cancel()
            } else {
                running[key]?.callers -= 1
            }
        }
    }
}

/// Waits before each body and each chunk, on the agent's clock.
struct PausingTransport: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        let time = options.time
        if response.body.data != nil {
            try await time.sleep(until: time.instant(after: .milliseconds(5)))
            return response
        }
        response.body = response.body.mapped(length: response.body.length) { iterator in
            guard let chunk = try await iterator.next() else { return nil }
            try await time.sleep(until: time.instant(after: .milliseconds(5)))
            return chunk
        }
        return response
    }
}
#endif
