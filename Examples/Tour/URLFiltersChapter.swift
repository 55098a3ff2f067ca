import Errand
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters

/// Sets up everything that all requests need in one place: version, token, signature, and environment.
enum URLFiltersChapter {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("URL filters: environments, common parameters, signatures")
        let service = try ServiceEnvironments(
            [
                .develop: ServiceConfiguration(baseURL: shop.server.url, version: "v1", keys: ["sign": "no secret"]),
                .release: ServiceConfiguration(
                    baseURL: "https://shop.invalid", version: "v1", keys: ["sign": "s3cret"]),
            ], selected: .release)
        let agent = NetworkAgent(
            baseURL: service.baseURL, transport: .system,
            filters: [.environment(service), .urls(.query(["platform": "linux"]), .sign(key: .service("sign")))])
        try service.select(.develop)
        let text = try await agent.send(GetText(path: "ping")).value
        let target = shop.server.received.last?.target ?? ""
        Chapter.line("GET ping got \"\(text)\"; the server was asked for")
        Chapter.line(String(target.prefix { $0 != "=" }) + "=linux&timestamp=…&sign=…")
        Chapter.line("signed with the key of \(service.selected): \(target.contains("&sign=") ? "yes" : "no")")
        Chapter.end()
    }
}
