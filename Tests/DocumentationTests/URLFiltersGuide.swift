// The code of docs/url-filters.md.
import Errand
import ErrandSystemTransport
import ErrandURLFilters
import Foundation

private actor Session {
    var token: String { "token" }
}

private func start(secret: String) {
    let agent = NetworkAgent(
        baseURL: "https://example.com", transport: .system,
        filters: [
            .urls(.prefix("/api/v2"), .query(["platform": "linux"]), .sign(key: .init(secret))),
            .headers(["X-App": "shop"]),
        ])

    // GET users?page=2  →  https://example.com/api/v2/users?page=2&platform=linux&timestamp=1700000000&sign=5bdcc1…
    _ = agent
}

struct Tenant: URLTextFilter {
    let tenant: String

    func edit(_ url: inout URLText, for exchange: Exchange) async throws {
        try url.prefixPath("/tenants/\(segment: tenant)")
    }
}

private func tenants() {
    let filters: [any Filter] = [.urls(Tenant(tenant: "north"))]
    _ = filters
}

private func tokens(session: Session) {
    let filters: [any Filter] = [
        .urls(
            .query(["v": "3"]),
            .query(inCacheKey: false, name: "token") { _ in ["token": await session.token] })
    ]
    _ = filters
}

private func parameters(session: Session) {
    let filters: [any Filter] = [
        .headers(["X-App": "shop"]),  // the request's own of that name stay
        .headers(merge: .replace) { exchange in ["X-Session": await session.token] },
        .body(["app": "shop"]),  // into forms and JSON objects; wins over the request's own
        .body(merge: .keep) { exchange in ["trace": "\(exchange.activity.id)"] },
    ]
    _ = filters
}

private func places(secret: String) {
    let filters: [any Filter] = [
        .urls(.sign(key: .init(secret))),
        .headers(signedBy: Signer(key: .init(secret), signature: "X-Signature", timestamp: "X-Timestamp")),
        .body(signedBy: Signer(key: .init(secret))),
    ]
    _ = filters
}

private struct Keychain {
    var key: SecretKey { get async throws { "key" } }
}

private func schemes(keychain: Keychain, ed25519: @escaping @Sendable (Data, Data) throws -> Data) {
    let signer = Signer(
        key: .computed { _ in try await keychain.key },
        algorithm: .custom("ed25519") { message, key in try ed25519(message, key.data) },
        encoding: .base64URL, signature: "sig", timestamp: nil,
        message: { try $0.wholeRequest() })  // method, path, parameters, SHA-256 of the body
    _ = signer
}

private func legacy(keys: String) {
    let sorted = Signer(
        key: .service("private"), algorithm: .md5, timestamp: nil, message: { $0.plainSortedParameters })
    let rest = Signer(
        key: .service("private"), algorithm: .md5, timestamp: nil,
        message: { "v2" + $0.path + $0.plainSortedParameters })
    let time = Signer(
        key: .init(keys), algorithm: .md5, signature: "hash", timestamp: "ts", message: { $0.timestamp })
    _ = (sorted, rest, time)
}

private func environments(rcKey: SecretKey, releaseKey: SecretKey) throws {
    let shop = try ServiceEnvironments(
        [
            .develop: ServiceConfiguration(
                baseURL: "https://dev.example.com", version: "v3", keys: ["sign": "no secret"]),
            .releaseCandidate: ServiceConfiguration(
                baseURL: "https://rc.example.com", version: "v3", keys: ["sign": rcKey]),
            .release: ServiceConfiguration(
                baseURL: "https://api.example.com", version: "v2", keys: ["sign": releaseKey]),
            "local": ServiceConfiguration(baseURL: "http://127.0.0.1:8080"),
        ], selected: .develop)

    let agent = NetworkAgent(
        baseURL: shop.baseURL, transport: .system,
        filters: [.environment(shop), .urls(.query(["platform": "linux"]), .sign(key: .service("sign")))])

    try shop.select(.release)  // from the next call on
    _ = agent
}

private struct GetFeed: Request {}

struct GetStatus: FilterExemptRequest {}  // no URL, header or body filter

struct GetPrices: FilterExemptRequest {
    var filterExemption: FilterExemption { ["sign", "token"] }
}

private func exempt(_ agent: NetworkAgent) async throws {
    let unsigned = CallOptions(tags: Tags().with(FilterExemption.self, ["sign"]))
    _ = try await agent.send(GetFeed(), options: unsigned)
}
