import Errand
import ErrandEssentials

struct Get: Request {
    typealias Output = String
    var path = "text"
}

struct Again: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        return response.status == 404 ? try await next(exchange) : response
    }
}

let base = "https://api.example.com/v1"

/// A request with every property set.
struct Post: Request {
    typealias Output = Data
    var path = "items"
    var headers: HTTPHeaders = [:]
    var body: RequestBody = .none
    var method: HTTPMethod { .post }
    var label: String? { path }
}
