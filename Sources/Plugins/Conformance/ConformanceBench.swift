import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

struct ConformanceBench: Sendable {
    let server: TestServer
    let transport: any Transport
    let make: @Sendable () throws -> any Transport

    init(_ make: @escaping @Sendable () throws -> any Transport) throws {
        self.make = make
        server = try TestServer()
        server.on("/ok", .text("ok"))
        transport = try make()
    }

    struct Received: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var data: Data
        var text: String { String(decoding: data, as: UTF8.self) }
    }

    func request(
        _ method: HTTPMethod = .get, _ path: String, headers: HTTPHeaders = [:], body: RequestBody = .none
    ) throws -> HTTPRequest {
        guard let url = URL(string: server.url(path)) else {
            throw ConformanceFailure(expected: "a URL", came: server.url(path))
        }
        var headers = headers
        if let type = body.contentType, !headers.contains(.contentType) { headers.add(.contentType, type) }
        return HTTPRequest(method, url, headers: headers, body: body)
    }

    func send(
        _ method: HTTPMethod = .get, _ path: String, headers: HTTPHeaders = [:], body: RequestBody = .none,
        options: TransportOptions = TransportOptions()
    ) async throws -> HTTPResponse {
        try await transport.send(request(method, path, headers: headers, body: body), options: options)
    }

    func exchange(
        _ method: HTTPMethod = .get, _ path: String, headers: HTTPHeaders = [:], body: RequestBody = .none,
        delivery: BodyDelivery = .data
    ) async throws -> Received {
        let response = try await send(
            method, path, headers: headers, body: body, options: TransportOptions(delivery: delivery))
        let data = try await response.body.collect(upTo: 1 << 30)
        return Received(status: response.status, headers: response.headers, data: data)
    }

    /// Sends a request with an agent, which adds the core's checks and events.
    func viaAgent(
        _ request: HTTPRequest, delivery: BodyDelivery = .data, accessories: [any Accessory] = [],
        filters: [any Filter] = [], timeout: Duration = .seconds(60), limit: Int = 64 << 20
    ) async throws -> Received {
        var configuration = AgentConfiguration()
        (configuration.maximumBodyBytes, configuration.filters, configuration.timeout) = (limit, filters, timeout)
        let agent = NetworkAgent(configuration: configuration, transport: transport)
        let probe = Probe(http: request, delivery: delivery, accessories: accessories)
        let response = try await agent.send(probe, options: CallOptions()).value
        let data = try await response.body.collect(upTo: 1 << 30)
        return Received(status: response.status, headers: response.headers, data: data)
    }

    struct Probe: Request {
        typealias Output = HTTPResponse
        let http: HTTPRequest
        let delivery: BodyDelivery
        let accessories: [any Accessory]
        var acceptableStatuses: StatusCodes { .any }
        var redirects: RedirectPolicy? { RedirectPolicy.off }
        func httpRequest() -> HTTPRequest? { http }
    }

    /// Returns a streamed response once its head has arrived. Throws a failure if the transport keeps the head back,
    /// for example until the whole body has arrived.
    func stream(_ path: String, options: TransportOptions = TransportOptions(delivery: .stream)) async throws
        -> HTTPResponse
    {
        try await promptHead(of: path) { try await send(.get, path, options: options) }
    }

    func expectWorking(after what: String) async throws {
        let received = try await exchange(.get, "/ok")
        try equal(received.text, "ok", "the response to the request after \(what)")
    }
}

extension ConformanceBench {
    func expect(_ condition: Bool, _ expected: @autoclosure () -> String, came: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(expected: expected(), came: came()) }
    }

    /// Expects an error of the response or the connection, and not a cancellation or a timeout.
    func expectNotOwn(_ error: ErrandError, _ expected: @autoclosure () -> String) throws {
        try expect(error.code != .cancelled && error.code != .timedOut, expected(), came: error.description)
    }

    func equal<Value: Equatable>(_ came: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
        if came != expected { throw ConformanceFailure(expected: "\(what()): \(expected)", came: "\(came)") }
    }

    func equal(_ came: Data, _ expected: Data, _ what: @autoclosure () -> String) throws {
        if came == expected { return }
        let index = zip(came, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        throw ConformanceFailure(
            expected: "\(what()): \(expected.count) bytes",
            came: "\(came.count) bytes, different from byte \(index ?? min(came.count, expected.count))")
    }

    /// Returns the error that an operation throws. If you pass codes, checks that the error has one of these codes.
    @discardableResult
    func failure(
        of what: String, _ codes: ErrandError.Code..., body: () async throws -> Received
    ) async throws -> ErrandError {
        let received: Received
        do { received = try await body() } catch let error as ErrandError {
            if !codes.isEmpty, !codes.contains(error.code) {
                throw ConformanceFailure(expected: "\(what): one of \(codes)", came: error.description)
            }
            return error
        } catch is CancellationError where codes.isEmpty || codes.contains(.cancelled) {
            return ErrandError(.cancelled, "cancelled")
        } catch {
            throw ConformanceFailure(expected: "\(what): an ErrandError", came: "\(type(of: error)): \(error)")
        }
        throw ConformanceFailure(
            expected: "\(what): an error", came: "status \(received.status) with \(received.data.count) bytes")
    }

    /// Returns what an operation has received. Returns `nil` if the operation throws an `ErrandError` other than a
    /// cancellation or a timeout.
    func receivedOrFailure(of what: String, body: () async throws -> Received) async throws -> Received? {
        do { return try await body() } catch let error as ErrandError {
            try expectNotOwn(error, "\(what): a response or a network error")
            return nil
        } catch {
            throw ConformanceFailure(expected: "\(what): an ErrandError", came: "\(type(of: error)): \(error)")
        }
    }

    /// Returns bytes that can hardly be compressed, and that repeat only after a long time.
    static func pattern(_ count: Int) -> Data {
        var data = Data(capacity: count)
        var state: UInt32 = 2_463_534_242
        for _ in 0..<count {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            data.append(UInt8(truncatingIfNeeded: state >> 24))
        }
        return data
    }
}

extension HTTPBody.Iterator {
    /// Returns the next chunk. Throws a failure if the transport keeps back bytes that the server has sent.
    mutating func nextPromptly() async throws -> Data? {
        let (chunk, iterator) = try await promptly("a part of the body, before the end of the body") { [self] in
            var iterator = self
            return (try await iterator.next(), iterator)
        }
        self = iterator
        return chunk
    }
}

/// Returns a streamed response. Throws a failure if the transport keeps back the head that the server has sent.
func promptHead(
    of path: String, _ body: @escaping @Sendable () async throws -> HTTPResponse
) async throws -> HTTPResponse {
    try await promptly("the head of \(path), before the end of its body", body)
}

/// Returns the result of an operation for which the transport doesn't have to wait. Throws a failure if it doesn't end.
///
/// The limit is a number of short waits, so a busy machine doesn't cause a failure. On such a machine, the transport's
/// own timeout may come first, which is the same failure.
func promptly<Value: Sendable>(
    _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let end = Watched<Result<Value, any Error>?>(nil)
    let task = Task {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.update { $0 = result }
    }
    defer { task.cancel() }
    for _ in 0..<300 {
        let result: Result<Value, any Error>
        do { result = try await end.wait(for: what, within: .milliseconds(100)) { $0 } } catch is WaitTimeout {
            continue
        }
        do { return try result.get() } catch let error as ErrandError where error.code == .timedOut {
            throw ConformanceFailure(expected: what, came: error.description)
        }
    }
    throw ConformanceFailure(expected: what, came: "no result within 30 seconds")
}

/// Runs an operation with a time limit. After the limit, cancels the operation, and throws without waiting for its end.
func withLimit(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    let ending = Watched<Result<Void, any Error>?>(nil)
    let task = Task {
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        ending.update { $0 = result }
    }
    defer { task.cancel() }
    let result: Result<Void, any Error>
    do { result = try await ending.wait(for: "the case to end", within: limit) { $0 } } catch is WaitTimeout {
        throw ConformanceFailure(expected: "the case to end", came: "it didn't end within \(duration: limit)")
    }
    try result.get()
}
