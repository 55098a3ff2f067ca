import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension WrongFilter {
    /// Filters that change what they send or return.
    static let fidelity: [WrongFilter] = [
        WrongFilter(
            "decodes the query and encodes it anew", caughtBy: "a URL reaches the transport unchanged",
            saying: "the query items"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    guard var parts = URLComponents(url: http.url, resolvingAgainstBaseURL: false) else { return }
                    parts.queryItems = parts.queryItems?.map { URLQueryItem(name: $0.name, value: $0.value ?? "") }
                    http.url = parts.url ?? http.url
                })
        },
        WrongFilter(
            "sorts the query", caughtBy: "a URL reaches the transport unchanged",
            saying: "the query items"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    let parts = http.urlText.split(separator: "?")
                    let items = parts.dropFirst().first?.split(separator: "&").sorted().joined(separator: "&") ?? ""
                    http.url = URL(string: "\(parts[0])?\(items)") ?? http.url
                })
        },
        WrongFilter(
            "tidies the path", caughtBy: "a URL reaches the transport unchanged",
            saying: "the URL without its query"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    let parts = http.urlText.split(separator: "/")
                    http.url = URL(string: "\(parts[0])//\(parts.dropFirst().joined(separator: "/"))") ?? http.url
                })
        },
        WrongFilter(
            "writes the names of fields in lower case",
            caughtBy: "the request's fields reach the transport unchanged",
            saying: "the name of the field"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    http.headers = HTTPHeaders(
                        http.headers.map {
                            HTTPHeaders.Field(
                                HTTPHeaderName($0.name.rawName.lowercased()), $0.value, sensitive: $0.isSensitive)
                        })
                })
        },
        WrongFilter(
            "joins the fields of a name", caughtBy: "the request's fields reach the transport unchanged",
            saying: "the field X-Conformance-List"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    for name in Set(http.headers.map(\.name)) { http.headers[name] = http.headers[name] }
                })
        },
        WrongFilter(
            "sends a body of no bytes with a GET",
            caughtBy: "the request's fields reach the transport unchanged",
            saying: "no body for a request without one"
        ) { exchange, next in
            try await next(exchange.changing { if $0.body.isNone { $0.body = .data(Data(), contentType: nil) } })
        },
        WrongFilter(
            "asks for the whole",
            caughtBy: "a range request keeps its Range, and a partial response isn't returned as the whole",
            saying: "the field Range"
        ) { exchange, next in
            try await next(exchange.changing { $0.headers.remove("Range") })
        },
        WrongFilter(
            "serves a part as the whole",
            caughtBy: "a range request keeps its Range, and a partial response isn't returned as the whole",
            saying: "for the whole"
        ) { CarefulCache { "\($0.method) \($0.urlText) \($0.headers[.authorization] ?? "")" } },
        WrongFilter(
            "has a timeout of its own",
            caughtBy: "the request's timeout, priority and delivery reach the transport",
            saying: "the timeout: 7.0 seconds"
        ) { exchange, next in
            var exchange = exchange
            exchange.timeout = .seconds(60)
            return try await next(exchange)
        },
        WrongFilter(
            "thinks that it is urgent",
            caughtBy: "the request's timeout, priority and delivery reach the transport",
            saying: "the priority: low"
        ) { exchange, next in
            var exchange = exchange
            exchange.priority = .high
            return try await next(exchange)
        },
        WrongFilter(
            "has streams collected by the transport",
            caughtBy: "the request's timeout, priority and delivery reach the transport",
            saying: "the delivery"
        ) { exchange, next in
            var exchange = exchange
            exchange.delivery = .data
            return try await next(exchange)
        },
        WrongFilter(
            "encodes the JSON of a request anew", caughtBy: "JSON is sent and received byte for byte",
            saying: "the JSON that was sent"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    guard let data = http.body.data, let value = anew(data) else { return }
                    http.body = .data(value, contentType: "application/json")
                })
        },
        WrongFilter(
            "encodes the JSON of a response anew", caughtBy: "JSON is sent and received byte for byte",
            saying: "the JSON that was received"
        ) { exchange, next in
            var response = try await next(exchange)
            if let value = anew(response.data) { response.body = HTTPBody(value) }
            return response
        },
        WrongFilter(
            "joins the cookies of a response", caughtBy: "a response's fields stay separate, unchanged and in order",
            saying: "the field Set-Cookie"
        ) { exchange, next in
            var response = try await next(exchange)
            response.headers[.setCookie] = response.headers[.setCookie]
            return response
        },
        WrongFilter(
            "sorts the fields of a response", caughtBy: "a response's fields stay separate, unchanged and in order",
            saying: "the order of the fields"
        ) { exchange, next in
            var response = try await next(exchange)
            let sorted = response.headers.enumerated().sorted {
                ($0.element.name.rawName, $0.offset) < ($1.element.name.rawName, $1.offset)
            }
            response.headers = HTTPHeaders(sorted.map(\.element))
            return response
        },
        WrongFilter(
            "makes a response of its own with the same content",
            caughtBy: "a response keeps its URL, version and source", saying: "the source"
        ) { exchange, next in
            let response = try await next(exchange)
            return HTTPResponse(
                url: response.url, status: response.status, headers: response.headers, body: response.body,
                version: response.version)
        },
        WrongFilter(
            "says that the request's URL has responded",
            caughtBy: "a response keeps its URL, version and source", saying: "the URL"
        ) { exchange, next in
            var response = try await next(exchange)
            response.url = exchange.http.url
            return response
        },
        WrongFilter(
            "counts the bytes of a stream, and loses its length",
            caughtBy: "a streamed response keeps its length and the order of its bytes",
            saying: "the length of the stream"
        ) { exchange, next in
            var response = try await next(exchange)
            let pieces = Pieces(response.body)
            response.body = HTTPBody(source: pieces)
            return response
        },
        WrongFilter(
            "counts the bytes of an upload, and loses its length",
            caughtBy: "a streamed request body keeps its length, and is read only by the transport",
            saying: "the length of the body that is sent"
        ) { exchange, next in
            try await next(
                exchange.changing { http in
                    let body = http.body
                    if body.data == nil { http.body = .stream { HTTPBody(source: Pieces(try body.open())) } }
                })
        },
        WrongFilter(
            "reads an upload before it sends it",
            caughtBy: "a streamed request body keeps its length, and is read only by the transport",
            saying: "4001 chunks"
        ) { exchange, next in
            var exchange = exchange
            let body = exchange.http.body
            if body.data == nil { exchange.http.body = .data(try await body.open().collect(upTo: 1 << 24)) }
            return try await next(exchange)
        },
        WrongFilter(
            "gives equal calls one stream", caughtBy: "concurrent equal calls each get their own stream",
            saying: "the stream of each call"
        ) { SharesRunning { "\($0.method) \($0.urlText)" } },
    ]

    private static func anew(_ data: Data) -> Data? {
        guard let value = try? JSONDecoder().decode(JSONText.self, from: data) else { return nil }
        return try? JSONEncoder().encode(value)
    }
}

extension Exchange {
    func changing(_ change: (inout HTTPRequest) -> Void) -> Exchange {
        var exchange = self
        var http = exchange.http
        change(&http)
        exchange.http = http
        return exchange
    }
}

final class Pieces: HTTPBodySource {
    private let body: HTTPBody
    private let iterator: Mutex<HTTPBody.Iterator>

    init(_ body: HTTPBody) {
        self.body = body
        iterator = Mutex(body.makeAsyncIterator())
    }

    func nextChunk() async throws -> Data? {
        var copy = iterator.withLock { $0 }
        let chunk = try await copy.next()
        iterator.withLock { $0 = copy }
        return chunk
    }

    func cancel() { body.cancel() }
}

/// Any JSON, as most programs decode it.
private enum JSONText: Codable {
    case null, bool(Bool), number(Double), text(String), list([JSONText]), object([String: JSONText])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONText].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONText].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

/// Stores accepted responses in memory, under a custom key.
final class CarefulCache: Filter {
    private struct Key: Hashable {
        let text: String
        let users: Set<UserMark>
    }

    private let stored = Mutex<[Key: HTTPResponse]>([:])
    private let key: @Sendable (HTTPRequest) -> String
    /// Whether the users of an exchange are part of its key.
    private let separatesUsers: Bool

    init(separatesUsers: Bool = false, key: @escaping @Sendable (HTTPRequest) -> String) {
        (self.separatesUsers, self.key) = (separatesUsers, key)
    }

    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let key = Key(text: key(exchange.http), users: separatesUsers ? exchange.userMarks : [])
        if let response = stored.withLock({ $0[key] }) { return response }
        let response = try await next(exchange)
        if exchange.delivery != .data { return response }
        exchange.whenAccepted {
            self.stored.withLock { stored in
                // Bounded, but crudely.
                if stored.count > 100 { stored = [:] }
                stored[key] = response
            }
        }
        return response
    }
}

/// Shares one request among running requests with the same key.
final class SharesRunning: Filter {
    private let running = Mutex<[String: Task<HTTPResponse, any Error>]>([:])
    private let key: @Sendable (HTTPRequest) -> String

    init(key: @escaping @Sendable (HTTPRequest) -> String) { self.key = key }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let key = key(exchange.http)
        let (task, isFirst) = running.withLock { running in
            if let task = running[key] { return (task, false) }
            let task = Task { try await next(exchange) }
            running[key] = task
            return (task, true)
        }
        defer { if isFirst { running.withLock { $0[key] = nil } } }
        return try await task.value
    }
}
