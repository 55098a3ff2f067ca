import Errand
import ErrandAuthentication
import ErrandCache
import ErrandEssentials
import ErrandTesting

/// A service whose response names the user, identified by any kind of credential.
final class Service: Sendable {
    static let home = "https://api.example.com"
    private let log = Log<HTTPRequest>()

    var requests: [HTTPRequest] { log.all }
    var count: Int { log.count }

    /// Returns a transport that responds to all paths, unless a script does.
    func transport(
        caching: String? = nil,
        _ script: @escaping @Sendable (HTTPRequest, Int) async throws -> StubResponse? = { _, _ in nil }
    ) -> StubTransport {
        StubTransport(maximumRecordedRequests: 0) { [self] request in
            log.add(request)
            if let scripted = try await script(request, log.count) { return scripted }
            let response = StubResponse.text("data of \(Self.user(of: request))")
            return caching.map { response.header("Cache-Control", $0) } ?? response
        }
    }

    /// Returns a request's user: the part of a credential before a dot. In a token, a number follows the dot.
    static func user(of request: HTTPRequest) -> String {
        let headers = request.headers
        let credentials = [
            headers[.authorization]?.split(separator: " ").last.map(String.init), headers["X-Device-Key"],
            headers["X-Sign"], headers[.cookie]?.split(separator: "=").last.map(String.init),
            items(of: request, "api_key").first, formItems(of: request, "api_key").first,
        ]
        return credentials.compactMap(\.self).first?.split(separator: ".").first.map(String.init) ?? "nobody"
    }

    static func items(of request: HTTPRequest, _ name: String) -> [String] {
        let query = request.url.query(percentEncoded: false) ?? ""
        return values(name, in: query)
    }

    static func formItems(of request: HTTPRequest, _ name: String) -> [String] {
        values(name, in: String(decoding: request.body.data ?? Data(), as: UTF8.self))
    }

    private static func values(_ name: String, in text: String) -> [String] {
        text.split(separator: "&").filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

struct Get: CacheableRequest {
    typealias Output = String
    var path = "data"
    var cachePolicy: CachePolicy

    init(_ policy: CachePolicy, _ path: String = "data") { (cachePolicy, self.path) = (policy, path) }
}

extension NetworkAgent {
    convenience init(
        _ transport: some Transport, time: some TimeSource = ManualTimeSource(),
        accessories: [any Accessory] = [], _ filters: any Filter...
    ) {
        self.init(
            baseURL: Service.home, transport: transport, filters: filters, accessories: accessories, time: time)
    }

    func text(_ request: Get, options: CallOptions = CallOptions()) async throws -> String {
        try await send(request, options: options).value
    }

    /// Returns the error that a POST throws; nil if it succeeds.
    func failure(_ path: String = "orders", body: RequestBody = .text("1 book")) async -> (any Error)? {
        do { try await send(Call<Void>(.post, path, body: body)) } catch { return error }
        return nil
    }
}

/// A credential in two header fields that it doesn't mark as sensitive.
struct DeviceKey: Credential {
    let key: String

    func authorize(_ request: inout HTTPRequest) throws {
        request.headers["X-Device"] = "phone"
        request.headers["X-Device-Key"] = key
    }
}

struct QueryKey: Credential {
    let key: String

    func authorize(_ request: inout HTTPRequest) throws {
        request.url.append(queryItems: [URLQueryItem(name: "api_key", value: key)])
    }
}

struct FormKey: Credential {
    let key: String

    func authorize(_ request: inout HTTPRequest) throws {
        guard let data = request.body.data, !request.body.isNone else { return }
        let form = String(decoding: data, as: UTF8.self) + "&api_key=\(key)"
        request.body = .text(form, contentType: "application/x-www-form-urlencoded")
    }
}

let form = RequestBody.text("item=book", contentType: "application/x-www-form-urlencoded")
