import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension WrongFilter {
    /// Filters that lose a part of a message, or invent one.
    static let messages: [WrongFilter] = [
        WrongFilter(
            "loses the fields of the response", caughtBy: "a response keeps its status, fields and bytes",
            saying: "a field of the response"
        ) { exchange, next in
            let response = try await next(exchange)
            return HTTPResponse(url: response.url, status: response.status, body: response.body)
        },
        WrongFilter(
            "makes an empty response of each error of the server", caughtBy: "a response with any status is returned",
            saying: "the status: 404, got 200"
        ) { exchange, next in
            let response = try await next(exchange)
            return response.status < 400 ? response : .madeUp(for: exchange)
        },
        WrongFilter(
            "responds to HEAD with a body",
            caughtBy: "a response to HEAD doesn't get a body",
            saying: "no body in a response to HEAD with 200, got 2 bytes"
        ) { exchange, next in
            let response = try await next(exchange)
            return exchange.http.method == .head ? .madeUp(for: exchange, "{}") : response
        },
        WrongFilter(
            "sends GET in the place of HEAD",
            caughtBy: "a response to HEAD doesn't get a body", saying: "HEAD"
        ) { exchange, next in
            var exchange = exchange
            if exchange.http.method == .head { exchange.http.method = .get }
            return try await next(exchange)
        },
        WrongFilter(
            "gives 204 a body of its own",
            caughtBy: "a response with 204 or 304 doesn't get a body",
            saying: "GET with 204, got 4 bytes"
        ) { exchange, next in
            let response = try await next(exchange)
            return response.data.isEmpty && exchange.http.method != .head
                ? .madeUp(for: exchange, status: response.status, "null") : response
        },
        WrongFilter(
            "forgets the body of the request", caughtBy: "a request keeps its method, path and body",
            saying: "the body: conformance, got "
        ) { exchange, next in
            var exchange = exchange
            exchange.http = HTTPRequest(exchange.http.method, exchange.http.url, headers: exchange.http.headers)
            return try await next(exchange)
        },
        WrongFilter(
            "makes a dictionary of the fields",
            caughtBy: "unknown request fields reach the transport, including repeated ones",
            saying: "a field that appears twice"
        ) { exchange, next in
            var exchange = exchange
            let fields = Dictionary(
                exchange.http.headers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            exchange.http.headers = HTTPHeaders(fields.values)
            return try await next(exchange)
        },
        WrongFilter(
            "knows only the fields on its list",
            caughtBy: "unknown request fields reach the transport, including repeated ones", saying: "an unknown field"
        ) { exchange, next in
            var exchange = exchange
            exchange.http.headers.removeAll { ![.accept, .authorization, .userAgent].contains($0.name) }
            return try await next(exchange)
        },
        WrongFilter(
            "loses the mark of a secret", caughtBy: "a field that is marked as sensitive stays marked",
            saying: "the mark of a sensitive field"
        ) { exchange, next in
            var exchange = exchange
            exchange.http.headers = HTTPHeaders(exchange.http.headers.map { HTTPHeaders.Field($0.name, $0.value) })
            return try await next(exchange)
        },
        WrongFilter(
            "begins with new tags", caughtBy: "unknown tags reach the transport", saying: "the tag"
        ) { exchange, next in
            var exchange = exchange
            exchange.tags = Tags()
            return try await next(exchange)
        },
    ]

    /// Filters that take a body from its reader, or keep it.
    static let bodies: [WrongFilter] = [
        WrongFilter(
            "reads a stream, and leaves it to be read again", caughtBy: "a streamed response can be read by the caller",
            saying: "bodyAlreadyRead"
        ) { exchange, next in
            let response = try await next(exchange)
            let bytes = try await response.body.collect(upTo: 1 << 20)
            exchange.note("log", "\(bytes.count) bytes")
            return response
        },
        WrongFilter(
            "collects a stream before its reader asks",
            caughtBy: "a streamed body isn't read before the caller reads it",
            saying: "4001 chunks"
        ) { exchange, next in
            var response = try await next(exchange)
            response.body = HTTPBody(try await response.body.collect(upTo: 1 << 24))
            return response
        },
        WrongFilter(
            "ends a stream where it breaks", caughtBy: "an error in the middle of a stream reaches the caller",
            saying: "an error, got the status 200"
        ) { exchange, next in
            var response = try await next(exchange)
            let body = response.body
            let source = Mutex<[Data]>([])
            do { for try await chunk in body { source.withLock { $0.append(chunk) } } } catch {}
            response.body = HTTPBody(Data(source.withLock { $0 }.joined()))
            return response
        },
        WrongFilter(
            "keeps the bodies of its responses", caughtBy: "a stream that the caller drops is cancelled",
            saying: "a body still in memory", endless: true
        ) { KeepsBodies() },
        WrongFilter(
            "pumps a stream by a task of its own",
            caughtBy: "cancelling the task that reads a stream ends the transfer",
            saying: "a transfer that keeps running", endless: true
        ) { exchange, next in
            var response = try await next(exchange)
            let body = response.body
            let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            Task {
                do {
                    for try await chunk in body { continuation.yield(chunk) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            let chunks = SharedIterator(stream)
            response.body = HTTPBody { try await chunks.next() }
            return response
        },
        WrongFilter(
            "reads the body of the request for its log",
            caughtBy: "a request body that can be read only once is sent completely",
            saying: "a body that the transport can read"
        ) { exchange, next in
            if exchange.http.body.data == nil {
                let bytes = try await exchange.http.body.open().collect(upTo: 1 << 20)
                exchange.note("log", "\(bytes.count) bytes")
            }
            return try await next(exchange)
        },
        WrongFilter(
            "repeats a request without the body that is gone",
            caughtBy: "a request body that can be read only once isn't sent again as an empty body",
            saying: "got [20000, 0] bytes"
        ) { exchange, next in
            do { return try await next(exchange) } catch {
                var exchange = exchange
                if !exchange.http.body.isReplayable { exchange.http.body = .data(Data()) }
                return try await next(exchange)
            }
        },
    ]
}

private final class KeepsBodies: Filter {
    private let bodies = Mutex<[HTTPBody]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        bodies.withLock { $0.append(response.body) }
        return response
    }
}

private actor SharedIterator {
    private var iterator: AsyncThrowingStream<Data, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<Data, any Error>) { iterator = stream.makeAsyncIterator() }

    func next() async throws -> Data? {
        var copy = iterator
        defer { iterator = copy }
        return try await copy.next(isolation: self)
    }
}
