import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// A transport around the strictest one of this package, with a mistake or an unusual habit.
struct AlteredTransport: Sendable, CustomTestStringConvertible {
    typealias Send = @Sendable (HTTPRequest, TransportOptions, any Transport) async throws -> HTTPResponse

    let testDescription: String
    let make: @Sendable () -> any Transport

    /// - Parameter send: creates the function that sends, for each transport.
    init(_ description: String, stateful send: @escaping @Sendable () -> Send) {
        testDescription = description
        make = { WrappingTransport(base: Wire.strict[0].transport, body: send()) }
    }

    init(_ description: String, plain make: @escaping @Sendable () -> any Transport) {
        (testDescription, self.make) = (description, make)
    }

    init(_ description: String, _ send: @escaping Send) { self.init(description, stateful: { send }) }

    private struct WrappingTransport: Transport {
        let base: any Transport
        let body: Send

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            try await body(request, options, base)
        }
    }

    /// Returns a transport that changes each response.
    static func response(
        _ description: String, _ change: @escaping @Sendable (inout HTTPResponse) throws -> Void
    ) -> AlteredTransport {
        AlteredTransport(description) { request, options, base in
            var response = try await base.send(request, options: options)
            try change(&response)
            return response
        }
    }

    /// Returns a transport that changes each request.
    static func request(
        _ description: String, _ change: @escaping @Sendable (inout HTTPRequest) throws -> Void
    ) -> AlteredTransport {
        AlteredTransport(description) { request, options, base in
            var request = request
            try change(&request)
            return try await base.send(request, options: options)
        }
    }
}

extension HTTPBody {
    /// Returns a body whose chunks a closure changes.
    func mapped(
        length: Int64?, _ next: @escaping @Sendable (inout HTTPBody.Iterator) async throws -> Data?
    ) -> HTTPBody {
        let source = MappedSource(self, next)
        return HTTPBody(length: length, source: source)
    }
}

private final class MappedSource: HTTPBodySource {
    private let body: HTTPBody
    private let iterator: Mutex<HTTPBody.Iterator>
    private let next: @Sendable (inout HTTPBody.Iterator) async throws -> Data?

    init(_ body: HTTPBody, _ next: @escaping @Sendable (inout HTTPBody.Iterator) async throws -> Data?) {
        (self.body, self.next) = (body, next)
        iterator = Mutex(body.makeAsyncIterator())
    }

    func nextChunk() async throws -> Data? {
        var copy = iterator.withLock { $0 }
        let chunk = try await next(&copy)
        let moved = copy
        iterator.withLock { $0 = moved }
        return chunk
    }

    func cancel() { body.cancel() }
}

/// Expects the case with a name to refuse a transport.
func expectRefusal(by name: String, of make: @escaping @Sendable () throws -> any Transport) async throws {
    let each = try #require(TransportConformance.cases(for: make).first { $0.name == name })
    await #expect(throws: ConformanceFailure.self) { try await each.run() }
}
