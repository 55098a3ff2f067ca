import Errand

/// A text at a path.
struct Get: Request {
    typealias Output = String
    var path = "text"
}

/// Sends a request once more after a 404.
struct Again: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        return response.status == 404 ? try await next(exchange) : response
    }
}

let base = "https://api.example.com/v1"
