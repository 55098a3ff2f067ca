import Errand
import ErrandEssentials
import ErrandHTTPSyntax
import ErrandHTTPTypes
import HTTPTypes
import OpenAPIRuntime
import Synchronization

/// One pass of an exchange through a middleware. Remembers the values it gave to the middleware, to recognize them when
/// they come back.
final class MiddlewarePass: Sendable {
    private typealias Given = (
        original: Errand.HTTPResponse, typed: HTTPTypes.HTTPResponse, body: OpenAPIRuntime.HTTPBody
    )

    let request: HTTPTypes.HTTPRequest
    let body: OpenAPIRuntime.HTTPBody?
    /// The scheme and authority of the request's URL.
    let server: URL
    private let exchange: Exchange
    /// The last response that the middleware received.
    private let last = Mutex<Given?>(nil)

    init(_ exchange: Exchange) throws {
        self.exchange = exchange
        request = try HTTPTypes.HTTPRequest(exchange.http)
        body = exchange.http.body.isNone ? nil : OpenAPIRuntime.HTTPBody(exchange.http.body)
        server = try Self.url("\(request.scheme ?? "")://\(request.authority ?? "")")
    }

    /// The exchange for a request that the middleware passes on.
    func exchange(
        for changed: HTTPTypes.HTTPRequest, _ changedBody: OpenAPIRuntime.HTTPBody?, _ changedServer: URL
    ) throws -> Exchange {
        if changed == request, changedBody == body, changedServer == server { return exchange }
        var next = exchange
        if changed.path != request.path || isElsewhere(changed) || changedServer != server {
            next.http.url = try url(of: changed, changedServer)
        }
        next.http.method = HTTPMethod(rawValue: changed.method.rawValue)
        if changed.headerFields != request.headerFields { next.http.headers = HTTPHeaders(changed.headerFields) }
        if changedBody != body { next.http.body = try changedBody.map { try RequestBody($0) } ?? .none }
        return next
    }

    /// Whether the middleware has changed the scheme or the authority.
    private func isElsewhere(_ changed: HTTPTypes.HTTPRequest) -> Bool {
        changed.scheme != request.scheme || changed.authority != request.authority
    }

    /// The URL of a request that the middleware passes on. If it has another origin, Errand removes the secrets that
    /// were added for the old one.
    private func url(of changed: HTTPTypes.HTTPRequest, _ changedServer: URL) throws -> URL {
        let path = changed.path ?? "/"
        guard path.hasPrefix("/") else {
            throw ErrandError(
                .invalidURL,
                "a middleware set the path \(URLSyntax.quoted(path)), which must begin with a slash to keep the host"
            )
        }
        var base = changedServer.absoluteString
        if isElsewhere(changed) {
            base = "\(changed.scheme ?? "")://\(changed.authority ?? "")" + changedServer.path(percentEncoded: true)
        }
        while base.hasSuffix("/") { base.removeLast() }
        return try Self.url(base + path)
    }

    /// Converts a response for the middleware.
    func given(_ response: Errand.HTTPResponse) throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        let given = (response, try HTTPTypes.HTTPResponse(response), OpenAPIRuntime.HTTPBody(response.body))
        let old = last.withLock { last in
            let old = last
            last = given
            return old
        }
        withExtendedLifetime(old) {}
        return (given.1, given.2)
    }

    /// Converts the response that the middleware returns.
    func response(_ response: HTTPTypes.HTTPResponse, _ body: OpenAPIRuntime.HTTPBody?) -> Errand.HTTPResponse {
        guard let last = last.withLock({ $0 }) else {
            return Errand.HTTPResponse(
                response, to: exchange.http, body: body.map { Errand.HTTPBody($0) } ?? .empty,
                source: ResponseSource("middleware"))
        }
        var changed = last.original
        if response.status != last.typed.status { changed.status = response.status.code }
        if response.headerFields != last.typed.headerFields { changed.headers = HTTPHeaders(response.headerFields) }
        if body != last.body { changed.body = body.map { Errand.HTTPBody($0) } ?? .empty }
        return changed
    }

    /// Percent-encodes characters that a URI can't have, and keeps escapes: `URL(string:)` would escape them again.
    private static func url(_ text: String) throws -> URL {
        do { return try URLReference(text).resolved() } catch {
            throw ErrandError(.invalidURL, "a middleware set the URL \(URLSyntax.quoted(text)): \(error.description)")
        }
    }
}
