import Errand
import Foundation
import Synchronization

/// Notes method, host and status of each call.
struct CallNotes: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let start = exchange.time.now
        do {
            let response = try await next(exchange)
            exchange.note(
                "calls",
                "\(exchange.http.method) \(exchange.http.host ?? "") \(response.status) "
                    + "after \(start.duration(to: exchange.time.now))")
            return response
        } catch {
            exchange.note("calls", "\(exchange.http.method) \(exchange.http.host ?? "") failed")
            throw error
        }
    }
}

/// Notes the size of each body.
///
/// Mistake: collects streams to count their bytes.
struct SizeNotes: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        let data = try await response.body.collect(upTo: 100_000_000)
        response.body = HTTPBody(data)
        exchange.note("size", "\(data.count) bytes")
        return response
    }
}

/// Takes the content of the service's envelope, `{"data": …}`, out of successful responses.
struct EnvelopeContent: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        guard (200..<300).contains(response.status), response.mediaType == "application/json",
            let data = response.body.data,
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any], object.count == 1,
            let content = object["data"],
            let inner = try? JSONSerialization.data(withJSONObject: content, options: .fragmentsAllowed)
        else { return response }
        response.body = HTTPBody(inner)
        response.headers.remove(.contentLength)
        return response
    }
}

/// Removes a guard against JSON hijacking, `)]}',`, from the front of bodies.
///
/// Mistake: builds a new response, without version, source and most fields.
struct HijackGuard: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard let data = response.body.data else { return response }
        let prefix = Data(")]}',\n".utf8)
        let body = data.starts(with: prefix) ? Data(data.dropFirst(prefix.count)) : data
        var headers = HTTPHeaders()
        headers[.contentType] = response.headers[.contentType]
        return HTTPResponse(url: response.url, status: response.status, headers: headers, body: HTTPBody(body))
    }
}

/// What the app's screens show for a failure.
struct ShopError: Error {
    let code: String
    let underlying: (any Error)?
}

/// Throws the service's own error for its conflicts.
struct ShopErrors: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        exchange.checks.add(
            ResponseCheck("shop") { response in
                if let code = response.headers["X-Shop-Error"] { throw ShopError(code: code, underlying: nil) }
            })
        return try await next(exchange)
    }
}

/// Throws the app's own error for all failures.
///
/// Mistake: cancellation becomes a failure too, and the response is lost.
struct NetworkErrors: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        do { return try await next(exchange) } catch { throw ShopError(code: "network", underlying: error) }
    }
}

/// Compares bodies with the checksum that the server sent.
struct BodyChecksum: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        exchange.checks.add(
            ResponseCheck("checksum") { response in
                guard let expected = response.headers["X-Checksum"], let data = response.body.data else { return }
                if checksum(data, key: "") != expected {
                    throw ErrandError(.checkFailed, "the checksum differs", response: response)
                }
            })
        return try await next(exchange)
    }
}

/// Compares bodies with the length that the server sent.
///
/// Mistake: `data` is empty for a stream and for a file, and a response to HEAD has a length without a body.
struct LengthCheck: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if let length = response.headers[.contentLength].flatMap({ Int($0) }), length != response.data.count {
            throw ErrandError(.truncated, "the body has \(response.data.count) bytes", response: response)
        }
        return response
    }
}

/// Answers some paths from the app's bundle, for demonstrations.
struct DemoResponses: Filter {
    let responses: [String: Data]

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, let data = responses[exchange.http.url.path] else {
            return try await next(exchange)
        }
        return HTTPResponse(
            to: exchange.http, status: 200, headers: ["Content-Type": "application/json"], body: HTTPBody(data))
    }
}

/// Returns the last good response if a call fails.
///
/// Mistake: also after a cancellation, to other users, and without a limit.
final class OfflineFallback: Filter {
    private let responses = Mutex<[String: HTTPResponse]>([:])
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let key = "\(exchange.http.method.rawValue) \(exchange.http.urlText)"
        do {
            let response = try await next(exchange)
            if response.status == 200, response.body.data != nil { responses.withLock { $0[key] = response } }
            return response
        } catch {
            if let response = responses.withLock({ $0[key] }) { return response }
            throw error
        }
    }
}
