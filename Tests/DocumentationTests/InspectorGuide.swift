// The code of docs/inspector.md.
import Errand
import ErrandInspector
import ErrandRetry
import ErrandSystemTransport

private func install() throws {
    let inspector = TrafficInspector()
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, accessories: [inspector])
    try inspector.start()
    _ = agent
}

private func two(_ inspector: TrafficInspector, _ shopURL: String, _ mapsURL: String) {
    let shop = NetworkAgent(baseURL: shopURL, transport: .system, accessories: [inspector.named("shop")])
    let maps = NetworkAgent(baseURL: mapsURL, transport: .system, accessories: [inspector.named("maps")])
    inspector.explainRequests(of: shop, named: "shop")
    _ = maps
}

private func tools(_ inspector: TrafficInspector, _ url: String) {
    let agent = NetworkAgent(
        baseURL: url, transport: .system, filters: [.retry] + inspector.filters, accessories: [inspector])
    _ = agent
}
